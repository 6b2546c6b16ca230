"""
collectord: what coding agents write to disk, collected once and kept as plain files.

The floors, lowest first; a module imports only from floors below its own, and
``tests/test_layers.py`` holds it to that.

====  ===============  ========================================================
 0    errors           the tree of errors, with exit codes and hints
 1    sessiondata      sd/1: header, record, part; reader and writer (public)
 2    sources          cursor, identity, the readers of source files (public)
 3    adapter          what a plug-in provides, and the registry (public)
 4    landing          layout, open file, seal, recovery
 4    reading          side room: sessions, following, verify
 5    state            the state store and the lock
 6    config, logs     what a person may set; what is logged
 7    watch            events and rescans: which sources changed
 8    pipeline         queue, read, convert, land
 9    daemon, audit    life cycle; sources against landed files
 9    demo             a sample session, played while the real daemon collects it
 10   cli              parse, call, print
====  ===============  ========================================================
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
