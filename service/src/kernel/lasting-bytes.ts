/**
 * The bytes of a text that is kept for as long as a call, in memory of their own. `Buffer.from` cuts small buffers out of pieces of
 * 64 KiB, each of which stays for as long as one of them does: for forty bytes that are kept, all that was sent around them.
 */
export function lastingBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}
