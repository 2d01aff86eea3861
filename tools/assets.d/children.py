"""Child processes that don't outlive this one, however it ends."""

import ctypes
import os

PR_SET_PDEATHSIG = 1

_prctl = ctypes.CDLL(None, use_errno=True).prctl


def die_with_parent(signal_number):
    """Has the kernel send this process a signal when its parent dies."""
    _prctl(PR_SET_PDEATHSIG, int(signal_number), 0, 0, 0)


def bound(signal_number):
    """A function for subprocess.Popen's preexec_fn that binds the child's life to ours."""
    parent = os.getpid()

    def bind():
        die_with_parent(signal_number)
        if os.getppid() != parent:  # it died before the kernel was told
            os._exit(1)

    return bind
