"""Who gets the terminal's Ctrl-C."""

import contextlib
import os
import signal


@contextlib.contextmanager
def alone():
    """Makes this process, and those that it starts, the terminal's foreground: its Ctrl-C goes to them, and not to the program
    that started this one. Does nothing where that program isn't the foreground itself, or there is no terminal.

    Ctrl-Z is ignored meanwhile: a shell waits for the program above, and wouldn't notice that this one stands still."""
    try:
        device = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        device = None
    above = os.getpgrp()
    try:
        if device is None or os.tcgetpgrp(device) != above:
            yield
            return
        signal.signal(signal.SIGTSTP, signal.SIG_IGN)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # which a background process gets that takes the terminal, as above
        os.setpgid(0, 0)
        os.tcsetpgrp(device, os.getpgrp())
        try:
            yield
        finally:
            # Not where somebody else has taken it meanwhile, a shell that saw the program above end; its group may be gone, too.
            with contextlib.suppress(OSError):
                if os.tcgetpgrp(device) == os.getpgrp():
                    os.tcsetpgrp(device, above)
    finally:
        if device is not None:
            os.close(device)
