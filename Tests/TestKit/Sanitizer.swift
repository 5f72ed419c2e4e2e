// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// Whether the tests run under a sanitizer, which needs memory of its own and keeps what is freed.
public let isSanitized =
    dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
