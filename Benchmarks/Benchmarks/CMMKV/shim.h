// The C interface of MMKV, from the sources that `PEERS` names.
#include <MMKVBridge.h>
