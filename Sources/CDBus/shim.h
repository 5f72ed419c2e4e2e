// libdbus-1: everything the wrapper needs is reachable without its variadic functions.
#include <dbus/dbus.h>
