"""Bugs in C code that belongs to no operation, which tests find: scripts/mutants.py plants them."""

ARRAY, OUTPUT, BASE = "unit/test_array", "unit/test_output", "unit/test_base"
VIEWS, TUNING, CACHE, CALLS = "unit/test_views", "unit/test_tuning", "unit/test_cache", "unit/test_calls"
RESULT, COMPARE, REAL = "unit/test_result", "unit/test_compare", "unit/test_real"
SOURCE, VERIFY, TIMING = "unit/test_kernel_source", "unit/test_verify", "unit/test_timing"
# Calls on arrays that are streamed, work on gaps, or fail.
STREAMS = "unit/test_streams unit/test_matmul_streams unit/test_sort_streams"
SESSION = "unit/test_matmul_session unit/test_matmul_in_place"
EACH_CALL = "faults/EveryFunction"
GENERIC = "unit/test_generic"
DIAGNOSE = "unit/test_diagnose"

# name: (file, text, which occurrence of it, replacement, tests)
MUTANTS = {
    # ---- what binds a call
    "diagnose-cached-bytes":
        ("host/measure/diagnose_answers.c", "if (of_bytes >= most && of_bytes <= beyond)", 0,
         "if (of_bytes >= most)", DIAGNOSE),
    "diagnose-little-traffic":
        ("host/measure/diagnose_answers.c", "else if (of_bytes >= some)", 0,
         "else if (of_bytes >= 0 * some)", DIAGNOSE),
    "diagnose-asked-for-counts":
        ("host/measure/diagnose_answers.c", "else if (of_bytes >= some)", 0,
         "else if (fmax(of_bytes, of_requested) >= some)", DIAGNOSE),
    "diagnose-no-ridge":
        ("host/measure/diagnose_answers.c", "!(i->least > 0) || i->ridge > 0;", 0,
         "true;", DIAGNOSE),
    "diagnose-cached-roof":
        ("host/measure/diagnose_answers.c", "row->share > beyond &&", 0,
         "false &&", DIAGNOSE),
    "diagnose-units-before-roof":
        ("host/measure/diagnose_answers.c", "if (f[ASK_ROOF].answer == ANSWER_YES)", 0,
         "if (f[ASK_ROOF].answer == ANSWER_YES && f[ASK_UNITS].answer != ANSWER_YES)", DIAGNOSE),
    "diagnose-access-first":
        ("host/measure/diagnose_answers.c", " && q->memory != CAUSE_ACCESS", 0,
         "", DIAGNOSE),
    "diagnose-int8-without-plain":
        ("host/measure/diagnose_answers.c", "else if (!(roof.plain > 0))", 0,
         "else if (false)", DIAGNOSE),
    "diagnose-latency-is-roof":
        ("host/measure/diagnose_answers.c", "c == CAUSE_LATENCY ?", 0,
         "false ?", DIAGNOSE),
    # ---- reading .npy
    "npy-shape-product-unchecked":
        ("host/file/npy_header.c", "fits = fits && size_mul(count, new.shape[i], &count);", 0,
         "fits = fits && (count *= new.shape[i], true);", ARRAY),
    "npy-third-dimension-unchecked":
        ("host/file/npy_header.c", "fits = fits && size_mul(count, new.shape[i], &count);", 0,
         "fits = fits && (i > 1 ? (count *= new.shape[i], true) : size_mul(count, new.shape[i], "
         "&count));", ARRAY),
    "npy-rank-not-bounded":
        ("host/file/npy_header.c", "if (rank < ARRAY_RANK_MAX)", 0, "if (rank <= ARRAY_RANK_MAX)", ARRAY),
    "npy-rank-not-refused":
        ("host/file/npy_header.c", "if (rank > ARRAY_RANK_MAX)", 0, "if (rank > ARRAY_RANK_MAX + 1)",
         ARRAY),
    "npy-header-beyond-the-file":
        ("host/file/npy_header.c", "if (*length > size - *start)", 0, "if (*length > size)", ARRAY),
    "npy-preamble-truncated":
        ("host/file/npy_header.c", "if (size < 8 + wide)", 0, "if (size < 8)", ARRAY),
    "npy-negative-extent":
        ("host/file/npy_header.c", "if (digits != start)", 0, "if (digits != start && 0)", ARRAY),
    "npy-key-twice":
        ("host/file/npy_header.c", "    seen[i] = true;\n", 0, "", ARRAY),
    "npy-byte-order":
        ("host/file/npy_header.c", "(descr.s[0] == '>' && host_is_little())", 0,
         "(descr.s[0] == '>' && !host_is_little())", ARRAY),
    "npy-text-behind-the-dictionary":
        ("host/file/npy_header.c", "    if (r->at != r->end)\n", 0, "    if (0)\n", ARRAY),
    "npy-trailing-byte":
        ("host/file/npy.c", "    if (extra) {", 0, "    if (0) {", ARRAY),
    "npy-too-long-passes":
        ("host/file/npy.c", "if (!s->sized || found == h->bytes)", 0,
         "if (!s->sized || found >= h->bytes)", "%s cli/test_bad_input" % ARRAY),
    "npy-leak-of-truncated-data":
        ("host/file/npy.c", "cleanup:\n    free(data);\n    return status;\n}\n\nstatic void swap", 0,
         "cleanup:\n    if (!status)\n        free(data);\n    return status;\n}\n\nstatic void swap",
         ARRAY),
    "npy-swap-half":
        ("host/file/npy.c", "i < size / 2", 0, "i + 1 < size / 2", ARRAY),
    "npy-transpose-edge":
        ("host/file/npy.c", "j < size_min(cols, j0 + BLOCK)", 0, "j + 1 < size_min(cols, j0 + BLOCK)",
         ARRAY),
    "npy-middle-extents":
        ("host/file/npy.c", "for (unsigned i = h->rank - 2; i > 0; i--) {", 0,
         "for (unsigned i = 1; i + 1 < h->rank; i++) {", ARRAY),
    "npy-boolean-bytes":
        ("host/file/npy.c", "((unsigned char *)*data)[i] != 0;", 0, "((unsigned char *)*data)[i];",
         "%s cli/test_sort_shapes" % ARRAY),
    # ---- reading .mtx
    "mtx-row-bounded-by-columns":
        ("host/file/mtx.c", "w.word[0], h->rows, &i)", 0, "w.word[0], h->cols, &i)", ARRAY),
    "mtx-index-0":
        ("host/file/mtx.c", "if (index < 1 || index > most)", 0, "if (index > most)", ARRAY),
    "mtx-index-one-past":
        ("host/file/mtx.c", "if (index < 1 || index > most)", 0, "if (index < 1 || index > most + 1)",
         ARRAY),
    "mtx-duplicates-replace":
        ("host/file/mtx.c", "*sum = after;", 0, "*sum = value;", ARRAY),
    "mtx-sum-rounded":
        ("host/file/mtx.c", "if (h->field != REAL &&", 0, "if (h->field == PATTERN &&", ARRAY),
    "mtx-mirror-sign":
        ("host/file/mtx.c", "dense[j * h->cols + i] += h->symmetry == SKEW ? -value : value;", 0,
         "dense[j * h->cols + i] += value;", ARRAY),
    "mtx-diagonal-twice":
        ("host/file/mtx.c", "if (h->symmetry != GENERAL && i != j)", 0, "if (h->symmetry != GENERAL)",
         ARRAY),
    "mtx-memory-limit":
        ("host/file/mtx.c", " ||\n        h->bytes > memory)", 0, ")", ARRAY),
    "mtx-entries-not-held-by-the-file":
        ("host/file/mtx.c", "if (h->entries <= most)", 0, "if (h->entries <= most + 1)", ARRAY),
    "mtx-array-values-overflow":
        ("host/file/mtx.c", "even = h->symmetry == SYMMETRIC ? n : n - 1;", 0,
         "even = n;", ARRAY),
    "mtx-too-many-entries":
        ("host/file/mtx.c", "    if (mtx_next_content(r, &w))\n", 0,
         "    if (mtx_next_content(r, &w) && 0)\n", ARRAY),
    "mtx-leak-of-a-bad-body":
        ("host/file/mtx.c", "cleanup:\n    free(dense);", 0, "cleanup:\n    if (!status)\n"
         "        free(dense);", ARRAY),
    "mtx-locale-kept":
        ("host/file/mtx.c", "    c_locale_leave(&locale);\n", 0, "", ARRAY),
    "mtx-word-count":
        ("host/file/mtx_line.c", "w->count++ < sizeof(w->word) / sizeof(w->word[0])", 0,
         "w->count++ <= sizeof(w->word) / sizeof(w->word[0])", ARRAY),
    "mtx-long-number":
        ("host/file/mtx_line.c", "if (word.length > NUMBER_MAX)", 0, "if (word.length > NUMBER_MAX + 1)",
         ARRAY),
    "mtx-integers-beyond-2-53":
        ("host/file/mtx_line.c", "return strlen(digits) == word.length - at && "
         "!memcmp(digits, word.s + at, word.length - at);", 0, "return true;", ARRAY),
    "mtx-count-overflow":
        ("host/file/mtx_line.c", "!size_mul(value, 10, &value)", 0, "(value *= 10, false)", ARRAY),
    # ---- conversion and output
    "convert-rounds-twice":
        ("host/file/array_convert.c", "    if (type == TSR_U64)\n        return (float)", 0,
         "    if (type == TSR_U64 && 0)\n        return (float)", ARRAY),
    "convert-sticky-bit":
        ("host/file/array_convert.c", "(uint64_t)((v & 0x7FF) != 0) << 11", 0, "(uint64_t)0", ARRAY),
    "convert-counts-infinities":
        ("host/file/array_convert.c", " && !isinf(get_f64(a->type, a->data, i))", 0, "", ARRAY),
    "convert-integer-lowest":
        ("host/file/array_convert.c", "magnitude == most + 1", 0, "magnitude <= most + 2", ARRAY),
    "convert-integer-below-0":
        ("host/file/array_convert.c", "(negative && magnitude && !type_is_signed(to))", 0, "false", ARRAY),
    "convert-integer-fraction":
        ("host/file/array_convert.c", " || trunc(value) != value", 0, "", ARRAY),
    "convert-integer-beyond-64-bits":
        ("host/file/array_convert.c", "!(fabs(value) < 0x1p64)", 0, "!(fabs(value) <= 0x1p64)", ARRAY),
    "half-ties-to-even":
        ("host/base/half.h", "rest > tie || (rest == tie && (kept & 1))", 0, "rest >= tie", BASE),
    "half-denormals":
        ("host/base/half.h", "drop += 1 - bias - exponent;", 0, "drop += 2 - bias - exponent;", BASE),
    "npy-header-padding":
        ("host/file/encode.c", "size_round_up(PREAMBLE + text + 1, 64)", 0,
         "size_round_up(PREAMBLE + text, 64)", OUTPUT),
    "mtx-chunk-overrun":
        ("host/file/encode.c", "if (used < sizeof(chunk) - LONGEST)", 0, "if (used < sizeof(chunk) - 4)",
         OUTPUT),
    "mtx-by-rows":
        ("host/file/encode.c", "size_t at = i * columns + j;", 0, "size_t at = j * rows + i;", OUTPUT),
    "mtx-digits":
        ("host/file/encode.c", "type == TSR_F64 ? 17 : 9", 0, "type == TSR_F64 ? 15 : 9", OUTPUT),
    "output-mode-lost":
        ("host/file/output.c", "fchmod(fd, old->st_mode & 07777)", 0, "fchmod(fd, 0600)", OUTPUT),
    "output-short-write":
        ("host/file/output.c", "        bytes += n;\n        size -= (size_t)n;", 0,
         "        size -= (size_t)n;", OUTPUT),
    "output-links-untold":
        ("host/file/output.c", "if (old->st_nlink > 1)", 0, "if (old->st_nlink > 2)", OUTPUT),
    "output-owner-untold":
        ("host/file/output.c", "new.st_uid != old->st_uid || ", 0, "", OUTPUT),
    "output-never-linked-in-place":
        ("host/file/output.c", "return o->unnamed[0] &&", 0, "return 0 &&", OUTPUT),
    "output-close-unasked":
        ("host/file/output.c", "if (!closes(fd))", 0, "if (0)", OUTPUT),
    "output-close-unchecked":
        ("host/file/output.c", "    if (close(fd) != 0 && !status)", 0, "    if (close(fd) != 0 && 0)",
         OUTPUT),
    "output-temporary-left":
        ("host/file/output.c", "        unlink(o->temporary);\n", 0, "", OUTPUT),
    "input-interrupted-read":
        ("host/file/input.c", "else if (errno != EINTR)", 0, "else", ARRAY),
    "input-block-of-a-pipe":
        ("host/file/input.c", "if (size < capacity)\n            break;", 0,
         "if (size <= capacity)\n            break;", ARRAY),
    # ---- base
    "size-add-wraps":
        ("host/base/sizes.h", "if (a > SIZE_MAX - b)", 0, "if (a >= SIZE_MAX - b && 0)", BASE),
    "size-div-up":
        ("host/base/sizes.h", "return a / b + (a % b != 0);", 0, "return a / b + 1;", BASE),
    "text-without-room-for-nul":
        ("host/base/text.c", "size_t need = t->length + more + 1;", 0, "size_t need = t->length + more;",
         BASE),
    "csv-quote":
        ("host/base/text.c", "text_append_bytes(t, *field == '\"' ? \"\\\"\\\"\" : field, *field == '\"' "
         "? 2 : 1);", 0, "text_append_bytes(t, field, 1);", RESULT),
    "error-list-kept":
        ("host/base/status.c", "if (*c == '\\n' || *c == '\\r')", 0, "if (*c == '\\r')", BASE),
    "long-message-overrun":
        ("host/base/status.c", "if (length < sizeof(err->message))", 0,
         "if (length <= sizeof(err->message))", BASE),
    "trusts-a-writable-folder":
        ("host/base/files.c", "else if (st->st_mode & (S_IWGRP | S_IWOTH))", 0,
         "else if (st->st_mode & S_IWOTH)", CACHE),
    "reads-another-users-entry":
        ("host/base/files.c", "if (st->st_uid != geteuid())\n        text_format(why, \"it belongs", 0,
         "if (0)\n        text_format(why, \"it belongs", CACHE),
    "reads-a-device":
        ("host/base/files.c", "} else if (!found || !S_ISREG(st.st_mode)) {", 0,
         "} else if (!found) {", "unit/test_kernel_source %s" % CACHE),
    "reads-without-bound":
        ("host/base/files.c", "} else if ((uintmax_t)st.st_size > max) {", 0, "} else if (0) {",
         "%s unit/test_kernel_source %s" % (TUNING, CACHE)),
    # ---- views
    "overlap-off-by-one":
        ("host/core/view.c", "x_begin < y_end && y_begin < x_end", 0,
         "x_begin <= y_end && y_begin < x_end", VIEWS + " unit/test_matmul_in_place"),
    "overlap-last-byte":
        ("host/core/view.c", "floor_div(x->bytes - apart - 1, pitch)", 0,
         "floor_div(x->bytes - apart, pitch)", VIEWS),
    "overlap-first-line":
        ("host/core/view.c", "first <= y->count - 1 && last >= 1 - x->count", 0,
         "first < y->count - 1 && last >= 1 - x->count", VIEWS),
    "floor-of-a-negative":
        ("host/core/view.c", "return a / b - (a % b < 0);", 0, "return a / b;", VIEWS),
    "view-extent-unchecked":
        ("host/core/view.c", "size_mul(x->count - 1, x->stride, &before)", 0,
         "(before = (x->count - 1) * x->stride, true)", VIEWS),
    "gaps-after-the-first":
        ("host/core/view.c", "memcmp(was + end * size, is + end * size, (start - end) * size) != 0", 0,
         "i == 0 && memcmp(was + end * size, is + end * size, (start - end) * size) != 0",
         VIEWS + " unit/test_matmul_proof"),
    # ---- tuning
    "tuning-file-limit":
        ("host/core/tuning_file.c", "FILE_MAX = 1 << 20", 0, "FILE_MAX = 1 << 30", TUNING),
    "tuning-text-too-long":
        ("host/core/tuning_file.c", "strlen(s) >= size)", 0, "strlen(s) > size)", TUNING),
    "tuning-control-character":
        ("host/core/tuning_file.c", "if (iscntrl((unsigned char)*c)) {", 0, "if (0) {", TUNING),
    "tuning-negative-time":
        ("host/core/tuning_file.c", " || t->median_ns < 0", 0, "", TUNING),
    "tuning-leak-of-a-document":
        ("host/core/tuning_file.c", "    json_decref(document);\n    text_free(&why);\n    return more;",
         0, "    text_free(&why);\n    return more;", TUNING),
    "tuning-memo-never-stale":
        ("host/core/tuning_memo.c", "m->stored == tuning_stored() && ", 0, "", TUNING + " " + CALLS),
    "tuning-class-magnitude":
        ("host/core/tuning_class.c", "while (n >> exponent > 1)", 0, "while (n >> exponent > 0)",
         "unit/test_matmul_plan"),
    # ---- calls and plans
    "call-of-another-placement":
        ("host/core/calls.c", "!is_problem(c, p) || c->place != place ||", 0, "!is_problem(c, p) ||",
         CALLS + " unit/test_matmul_session"),
    "call-of-other-inputs":
        ("host/core/calls.c", "c->posed.op == p->op && c->posed.inputs == p->inputs", 0,
         "c->posed.op == p->op", CALLS),
    "newest-call-goes":
        ("host/core/calls.c", "if (k->call[i].used < k->call[at].used)", 0,
         "if (k->call[i].used > k->call[at].used)", CALLS),
    "plan-leak":
        ("host/core/calls.c", "    plan_free(&k->call[at].plan);\n", 0, "", CALLS),
    "plan-commands-overrun":
        ("host/core/plan.c", "if (p->count == p->capacity) {", 0,
         "if (p->count == p->capacity + (p->capacity > 0)) {", "unit/test_sort_plan"),
    "feature-not-asked":
        ("host/core/plan.c", "if ((v->needs & 1u << f) && d->feature[f] != FEATURE_YES)", 0,
         "if ((v->needs & 1u << f) && d->feature[f] == FEATURE_NO)",
         CALLS),
    # ---- errors and their bounds
    "gamma-of-too-few":
        ("host/core/real.c", "return x->part[0].sum->terms + 2 * x->count;", 0,
         "return x->part[0].sum->terms;", REAL),
    "bound-without-beta-c":
        ("host/core/real.c", "real_gamma(s->type, roundings(x)) * fabsl((long double)p->beta * p->c);", 0,
         "0 * fabsl((long double)p->beta * p->c);", REAL),
    "nan-passes-for-infinity":
        ("host/core/real.c", "return (o->plus || o->may_overflow) && (o->minus || o->may_underflow);", 0,
         "return o->plus || o->may_overflow;", REAL),
    "infinity-of-either-sign":
        ("host/core/real.c", "return got > 0 ? o->plus || (o->may_overflow && !o->minus)", 0,
         "return got > 0 ? o->plus || o->minus || (o->may_overflow && !o->minus)", REAL),
    "tf32-rounds-down":
        ("host/core/real.c", "bits = (bits + 0xFFFu + (bits >> 13 & 1)) & 0xFFFFE000u;", 0,
         "bits = bits & 0xFFFFE000u;", REAL + " unit/test_matmul_proof"),
    # ---- the cache and kernel files
    "cache-checksum-unread":
        ("host/session/cache.c", "h->data_size) == h->checksum;", 0, "h->data_size) != 1;", CACHE),
    "cache-sizes-wrap":
        ("host/session/cache.c", "size_add(h->key_size, h->log_size, &body) && "
         "size_add(body, h->data_size, &body) &&", 0,
         "(body = h->key_size + h->log_size + h->data_size, true) &&", CACHE),
    "cache-other-key":
        ("host/session/cache.c", " || memcmp(body, key, h.key_size) != 0", 0, "", CACHE),
    "cache-temporary-of-a-failed-store":
        ("host/session/cache.c", "            unlink(text_get(&temporary));\n", 0,
         "            (void)0;\n", CACHE),
    "cache-temporary-of-an-interrupted-store":
        ("host/session/cache.c", "temporaries_add(text_get(path))", 0, "-1", CACHE),
    "cache-leak-of-another-key":
        ("host/session/cache.c", "        free(body);\n        return false;", 0,
         "        return false;", CACHE),
    "cache-close-unchecked":
        ("host/session/cache.c", "stored = close(fd) == 0 && stored;", 0,
         "close(fd);\n        stored = true;", CACHE),
    "cache-clears-other-files":
        ("host/session/cache.c", "strcmp(name + 16, \".tsr\") == 0) ||", 0, "1) ||", CACHE),
    "source-include-name":
        ("host/session/source.c", "end - start >= NAME_SIZE", 0, "end - start > NAME_SIZE", SOURCE),
    "source-include-depth":
        ("host/session/source.c", "if (depth > INCLUDES_MAX)", 0, "if (0)", SOURCE),
    "source-failed-include-passes":
        ("host/session/source.c", "*line && st == TSR_OK; line_number++", 0, "*line; line_number++",
         SOURCE),
    "source-line-numbers":
        ("host/session/source.c", "line_number + 1, said);", 0, "line_number, said);", SOURCE),
    # ---- copies and streams
    "copies-piece-reused-early":
        ("host/stream/copies.c", "    tsr_status st = finish_piece(p, err);\n", 0,
         "    tsr_status st = TSR_OK;\n", STREAMS),
    "copies-row-of-another-matrix":
        ("host/stream/copies.c", "(i - matrix * r->matrix) * r->pitch + in_row;", 0,
         "i * r->pitch + in_row;", STREAMS),
    "copies-last-piece-not-put":
        ("host/stream/copies.c", "return st ? st : put_piece(&before, err);", 0, "return st;", STREAMS),
    "copies-event-leak":
        ("host/stream/copies.c", "    event_forget(sent);\n    return event_share(by->busy, sent, err);",
         0, "    return event_share(by->busy, sent, err);", "unit/test_streams"),
    "copies-lent-bytes":
        ("host/stream/copies.c", "c->kept_bytes -= k.bytes;", 0, "", STREAMS),
    "engine-last-block":
        ("host/stream/engine.c", "r.bytes -= s->short_by;", 0, "", STREAMS + " unit/test_matvec_streams"),
    "engine-slot-filled-while-busy":
        ("host/stream/engine.c", "after = l->slots[l->current].busy;", 0, "after = NULL;", STREAMS),
    "batches-last-group":
        ("host/stream/batches.c", "count = size_min(group, b.count - first);", 0, "count = group;",
         "unit/test_matmul_streams"),
    "overlap-in-memory-unchecked":
        ("host/stream/host_memory.c", "if (((o->access | c->operand[k].access) & ACCESS_WRITE) &&", 0,
         "if ((o->access & c->operand[k].access & ACCESS_WRITE) &&", SESSION),
    "unaligned-result-not-copied-back":
        ("host/stream/host_memory.c", "if (!st && aligned[i] && (c.operand[i].access & ACCESS_WRITE))", 0,
         "if (0)", "unit/test_matmul_in_place"),
    "failed-call-not-waited-for":
        ("host/stream/host_memory.c", "    if (st != TSR_OK && c->report.shared)\n"
         "        queue_settle(c->session->queue);\n", 0, "", EACH_CALL),
    "buffers-leak-after-a-failure":
        ("host/stream/host_memory.c", "        if (c->buffer[i])\n            clReleaseMemObject", 0,
         "        if (c->buffer[i] && !st)\n            clReleaseMemObject", EACH_CALL),
    # ---- results
    "json-number-below-0":
        ("host/measure/result.c", "(!json_is_number(value) || json_number_value(value) < 0)", 0,
         "!json_is_number(value)", RESULT),
    "json-text-too-long":
        ("host/measure/result.c", "if (!s || strlen(s) >= f->size)", 0, "if (!s || strlen(s) > f->size)",
         RESULT),
    "json-bars-too-many":
        ("host/measure/result.c", "json_array_size(value) > RESULT_BARS_MAX", 0,
         "json_array_size(value) > RESULT_BARS_MAX + 1", RESULT),
    "json-bar-of-no-queue":
        ("host/measure/result.c", "out->queue < row->queues", 0, "out->queue <= row->queues", RESULT),
    "json-seed-wraps":
        ("host/measure/result.c", "n > (UINT64_MAX - (uint64_t)(*s - '0')) / 10", 0, "0", RESULT),
    "json-times-do-not-ascend":
        ("host/measure/result.c", "t->median_ns > t->high_ns ||", 0, "", RESULT),
    "json-rows-overrun":
        ("host/measure/result.c", "if (count < *capacity)", 0, "if (count <= *capacity)", RESULT),
    "json-unknown-member":
        ("host/measure/result.c", "if (json_object_size(o) == count + 1)", 0,
         "if (json_object_size(o) >= count + 1)", RESULT),
    "report-quote":
        ("host/measure/report.c", "        else if (*s == '\"')\n            text_append(out, "
         "\"&quot;\");\n", 0, "", COMPARE),
    "report-closes-the-script":
        ("host/measure/report.c", "if (s[i] == '<' || ", 0, "if (", COMPARE),
    "compare-other-unit-of-time":
        ("host/measure/compare.c", "result_unit_is_cost(v.row->unit) ? ", 0, "0 ? ", COMPARE),
    "compare-parameters-one-way":
        ("host/measure/compare.c", " && has_words(b->parameters, a->parameters);", 0, ";", COMPARE),
    "compare-cold-with-warm":
        ("host/measure/compare.c", "!strcmp(a->precision, b->precision) && a->cold == b->cold && "
         "a->timer", 0, "!strcmp(a->precision, b->precision) && a->timer", COMPARE),
    "quantile-interpolation":
        ("host/measure/timing.c", "const double part = at - (double)below;", 0,
         "const double part = 0;", TIMING + " unit/test_compare"),
    "median-of-unsorted":
        ("host/measure/timing.c", "    qsort(samples_ns, n, sizeof(*samples_ns), compare);\n", 0, "",
         TIMING),
    # ---- operations by their descriptions
    "member-described-twice":
        ("host/stream/generic.c", "            return true;\n    return false;\n}\n\nint tsr_operation_member", 0,
         "            return false;\n    return false;\n}\n\nint tsr_operation_member", GENERIC),
    "member-of-a-count-without-a-name":
        ("host/stream/generic.c", "        return f->name != NULL;", 0, "        return true;", GENERIC),
    "type-beyond-the-last":
        ("host/stream/generic.c", "(unsigned)type < TSR_TYPE_COUNT && ", 0, "", GENERIC),
    # ---- what threads keep, and the end of the process
    "scratch-lent-for-little":
        ("host/base/scratch.c", "(h->taken > SCRATCH_KEPT_MAX", 0, "(h->bytes > SCRATCH_KEPT_MAX",
         "unit/test_scratch"),
    "background-waits-once":
        ("host/base/background.c", "        waits = has_thread;\n", 0, "",
         "unit/test_background unit/test_matmul_default"),
    "class-without-flags-that-are-set":
        ("host/core/tuning_class.c", "in_class == CLASS_WHERE_SET && field_flag(", 0,
         "in_class == CLASS_WHERE_SET && 0 && field_flag(", "unit/test_matmul_plan"),
}
