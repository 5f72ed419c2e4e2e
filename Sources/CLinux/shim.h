// Headers of glibc and the kernel that Swift's Glibc module leaves out.
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pwd.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
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

// A terminal's exclusive mode. `ioctl` takes a variable argument, and `TIOCGEXCL` is a macro with
// parameters: Swift imports neither.
static inline int clinux_set_exclusive(int terminal, int exclusive) {
    return ioctl(terminal, exclusive ? TIOCEXCL : TIOCNXCL);
}

// 1 if somebody has the terminal for himself, 0 if nobody has, -1 if the kernel does not say.
static inline int clinux_is_exclusive(int terminal) {
    int exclusive = 0;
    return ioctl(terminal, TIOCGEXCL, &exclusive) == 0 ? exclusive != 0 : -1;
}

// Pseudo-terminals: glibc declares them only to programs that define _XOPEN_SOURCE, and Swift's
// Glibc module does not.
extern int posix_openpt(int flags);
extern int grantpt(int controller);
extern int unlockpt(int controller);
extern int ptsname_r(int controller, char *name, size_t size);
