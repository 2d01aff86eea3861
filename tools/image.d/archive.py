"""Tar archives whose bytes depend on nothing but names, contents, permissions and one time."""

import gzip
import io
import os
import tarfile


def with_folders(files, mode=0o755):
    """The entries of tar() for these files, name: (content, permissions), and of every folder that one lies in."""
    found = set()
    for name in files:
        while name := os.path.dirname(name):
            found.add(name)
    return [(name, None, mode) for name in found] + [(name, *file) for name, file in files.items()]


def tar(entries, epoch):
    """Of (name, content, permissions), where a folder's content is None: sorted, of root, with one time in seconds since 1970."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as out:
        for name, content, mode in sorted(entries, key=lambda entry: entry[0]):
            info = tarfile.TarInfo(name)
            info.mode, info.mtime = mode, epoch
            if content is None:
                info.type = tarfile.DIRTYPE
                out.addfile(info)
            else:
                info.size = len(content)
                out.addfile(info, io.BytesIO(content))
    return archive.getvalue()


def packed(content):
    return gzip.compress(content, compresslevel=9, mtime=0)
