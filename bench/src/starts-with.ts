/** Whether `prefix` stands at `at`. */
export function startsWith(bytes: Buffer, at: number, prefix: Buffer): boolean {
  const end = at + prefix.length
  return end <= bytes.length && bytes.compare(prefix, 0, prefix.length, at, end) === 0
}
