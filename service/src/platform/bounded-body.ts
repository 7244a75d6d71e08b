/** The body of an answer to `fetch`; null where it is longer than `maxBytes`, of which no more is read. Rejects when it breaks off. */
export async function boundedBody(response: Response, maxBytes: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = []
  let sizeBytes = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    sizeBytes += chunk.length
    if (sizeBytes > maxBytes) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
