// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// Whether the tests run under a sanitizer, which needs memory of its own and keeps what is freed.
public let isSanitized = isThreadSanitized || dlsym(nil, "__asan_init") != nil

/// Whether the tests run under the thread sanitizer.
public let isThreadSanitized = dlsym(nil, "__tsan_init") != nil
