// Headers of glibc and the kernel that Swift's Glibc module leaves out.
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

// argp takes the version's text from a global variable, which Swift rightly distrusts.
static inline void clinux_set_program_version(const char *version) {
    argp_program_version = version;
}
