"""Small programs that print facts about their own process: under `run` the same as without.

None needs TensorFlow.  A name that ends in an extension is a file beside the program.
"""

from __future__ import annotations

PROGRAMS: dict[str, str] = {
    "modules": "import sys; print(sorted(set(sys.modules) - {'atexit'}), sys.builtin_module_names)",
    "arguments": "import sys; print(sys.argv, sys.orig_argv[1:], sys.executable, sys.prefix)",
    "path": "import sys; print(sys.path, sys.path_hooks); print(sorted(sys.path_importer_cache))",
    "flags": "import sys; print(sys.flags, sys._xoptions, sys.warnoptions)",
    "warnings": "import warnings; print(warnings.filters)",
    "finds tensorflow": "import sys; "
    "print('tensorflow' in sys.modules, 'tfdbg_tui' in sys.modules)",
    "main": "print(__name__, __file__, __spec__, "
    "__package__, type(__loader__), __builtins__, __doc__, sorted(globals()))",
    "main is main": "import __main__; print(vars(__main__) is globals(), __main__)",
    "frames": "import sys, traceback; print(sys._getframe().f_back); traceback.print_stack()",
    "pickle": "import pickle\nclass A:\n    x = 1\n"
    "print(pickle.dumps(A()), type(pickle.loads(pickle.dumps(A()))) is A)",
    "source": "import inspect\ndef f():\n    return 1\nclass A:\n    pass\n"
    "print(inspect.getsource(f), inspect.getsource(A), inspect.getfile(f), open(__file__).read())",
    "type hints": "from __future__ import annotations\nimport dataclasses, typing\n"
    "@dataclasses.dataclass\nclass A:\n    next: A | None = None\nprint(typing.get_type_hints(A))",
    "exit with text": "import sys; print('out'); sys.exit('why')",
    "exit with code": "import sys; print('out'); sys.exit(3)",
    "exit with None": "raise SystemExit",
    "exit at once": "import os; print('lost'); os._exit(4)",
    "error": "def f(x):\n    return 1 / x\nf(0)",
    "chained errors": "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n"
    "    try:\n        raise KeyError(1) from error\n    except KeyError:\n"
    "        raise ValueError(2)",
    "error group": "raise ExceptionGroup('two', [ValueError(1), TypeError(2)])",
    "error with notes": "e = ValueError(1); e.add_note('a note'); raise e",
    "error in a thread": "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='t')\n"
    "t.start(); t.join(); print('goes on')",
    "error of recursion": "def f():\n    f()\nf()",
    "syntax error": "print('never')\nx = = 1",
    "indentation error": "if 1:\nprint()",
    "no such module": "import nowhere_to_be_found",
    "own excepthook": "import sys, traceback\n"
    "sys.excepthook = lambda *e: print('hook', traceback.format_exception(*e))\n1 / 0",
    "interrupt": "raise KeyboardInterrupt",
    "killed": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "aborted": "import os; os.abort()",
    "signals": "import signal; print([signal.getsignal(n) for n in range(1, 32)])",
    "own handler": "import os, signal\nsignal.signal(signal.SIGINT, lambda *_: print('once'))\n"
    "os.kill(os.getpid(), signal.SIGINT)",
    "at exit": "import atexit\natexit.register(print, 'first')\natexit.register(lambda: 1 / 0)\n"
    "atexit.register(print, 'last')\nprint('end')",
    "threads at exit": "import threading, time\n"
    "threading.Thread(target=lambda: (time.sleep(0.05), print('thread'))).start()\nprint('end')",
    "daemons": "import threading; print([t.name for t in threading.enumerate()])",
    "standard input": "import sys; print(repr(sys.stdin.read()), sys.stdin.isatty())",
    "asks": "print(input('name? ')); input('more? '); input()",
    "streams": "import sys; print([(s.encoding, s.errors, s.line_buffering, s.isatty()) "
    "for s in (sys.stdin, sys.stdout, sys.stderr)])",
    "descriptors": "import os\nopen_ones = []\nfor n in range(64):\n    try:\n"
    "        os.fstat(n); open_ones.append(n)\n    except OSError:\n        pass\nprint(open_ones)",
    "process": "import os; print(os.getcwd(), os.umask(0), os.getuid(), os.getpriority(0, 0))",
    "limits": "import gc, resource, sys\n"
    "print(gc.get_threshold(), gc.isenabled(), sys.getrecursionlimit(), sys.getswitchinterval(), "
    "resource.getrlimit(resource.RLIMIT_NOFILE), sys.gettrace(), sys.getprofile())",
    "environment": "import os\nours = 'PYTHONPATH', 'TFDBG_TUI_LOGDIR', 'TFDBG_TUI_OPTIONS'\n"
    "print(sorted((k, v) for k, v in os.environ.items() if k not in ours))",
    "random": "import random; random.seed(1); print(random.random(), hash('a'), {'a', 'b', 'c'})",
    "logging": "import logging; print(logging.root.handlers)\n"
    "logging.warning('w'); logging.getLogger('a').error('e')",
    "warns": "import warnings\ndef f():\n    warnings.warn('old', DeprecationWarning, 2)\nf()",
    "asyncio": "import asyncio\nasync def f():\n    raise ValueError(1)\nasyncio.run(f())",
    "unittest": "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n"
    "        self.assertEqual(1, 1)\nunittest.main(argv=['t', 'T.test'], testRunner="
    "unittest.TextTestRunner(open('/dev/null', 'w')), exit=False); print('tested')",
    "doctest": "'''\n>>> 1 + 1\n2\n'''\nimport doctest; print(doctest.testmod())",
    "runpy": "import runpy; print(sorted(runpy.run_path('beside.py')))",
    "beside.py": "answer = 42",
    "shadows": "import random, json, typing, string; print(random.own, json.own, typing.own)",
    "random.py": "own = 'own random'",
    "json.py": "own = 'own json'",
    "typing.py": "own = 'own typing'",
    "fails in tensorflow": "import tensorflow",
    "tensorflow.py": "import warnings\nwarnings.warn('from tensorflow', stacklevel=2)\n"
    "def f():\n    raise ImportError('no libcudart')\nf()",
    "fails in keras, twice": "for _ in range(2):\n    try:\n        from keras import layers\n"
    "    except RuntimeError as error:\n        print(error)\nimport keras.layers",
    "keras.py": "raise RuntimeError('no backend')",
    "keras without tensorflow": "import sys, tf_keras; print('tensorflow' in sys.modules)",
    "tf_keras.py": "",
    "spawns": "import multiprocessing as m\nclass A:\n    pass\n"
    "def f(a):\n    print(a, __name__, __spec__, flush=True)\n"
    "A.__repr__ = lambda self: f'{type(self)}'\n"
    "if __name__ == '__main__':\n    m.set_start_method('spawn')\n"
    "    p = m.Process(target=f, args=(A(),)); p.start(); p.join(); print(p.exitcode)",
    "forkserver": "import multiprocessing as m, os\ndef f():\n"
    "    print(__name__, flush=True); os._exit(5)\n"
    "if __name__ == '__main__':\n    m.set_start_method('forkserver')\n"
    "    p = m.Process(target=f); p.start(); p.join(); print(p.exitcode)",
    "forks": "import os\nif os.fork():\n    print(os.waitstatus_to_exitcode(os.wait()[1]))\n"
    "else:\n    print('child', flush=True); raise SystemExit(6)",
    "pool": "import multiprocessing as m, concurrent.futures as c\ndef f(x):\n    return x * x\n"
    "if __name__ == '__main__':\n"
    "    with c.ProcessPoolExecutor(2, m.get_context('spawn')) as p:\n"
    "        print(list(p.map(f, range(4))))",
    "starts python": "import subprocess, sys\nsubprocess.run([sys.executable, '-c', "
    "'import sys; print(sys.path, sys.flags, sys.argv); 1 / 0'])",
    "starts itself": "import os, sys\nprint(sys.argv, flush=True)\n"
    "if 'again' not in sys.argv:\n"
    "    os.execv(sys.executable, [sys.executable, *sys.argv, 'again'])",
}

PROGRAMS = {name: source + "\n" for name, source in PROGRAMS.items()}
