// Runs one act of another process for the tests of LMDB.

import TestSupport

HelperAct.runFromArguments { try $0.run() }
