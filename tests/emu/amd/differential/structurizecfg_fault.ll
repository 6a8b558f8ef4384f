; SPDX-License-Identifier: Apache-2.0
; A fault of LLVM 22.1 on an x86-64 host: what ways 2 and `default` hand on costs nothing (a truncation), and
; structurizecfg loses it for 4 to 7. Prints what f(0) .. f(7) are: 1234, for 3 the other value, 92.
target triple = "x86_64-pc-linux-gnu"
@way = global i32 0
@line = constant [10 x i8] c"%d -> %d\0A\00"

define i32 @f(i32 %s, i64 %a, i32 %b) noinline {
entry:
  switch i32 %s, label %default [
    i32 2, label %two
    i32 3, label %three
  ]
two:
  store volatile i32 2, ptr @way
  %t2 = trunc i64 %a to i32
  br label %join
three:
  %x = xor i32 %b, 85
  br label %join
default:
  store volatile i32 0, ptr @way
  %t0 = trunc i64 %a to i32
  br label %join
join:
  %r = phi i32 [ %t2, %two ], [ %x, %three ], [ %t0, %default ]
  ret i32 %r
}

declare i32 @printf(ptr, ...)

define i32 @main() {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %n, %loop ]
  %v = call i32 @f(i32 %k, i64 1234, i32 9)
  call i32 (ptr, ...) @printf(ptr @line, i32 %k, i32 %v)
  %n = add i32 %k, 1
  %c = icmp ult i32 %n, 8
  br i1 %c, label %loop, label %done
done:
  ret i32 0
}
