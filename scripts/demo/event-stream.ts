/** A server-sent event; `data` is its JSON. */
export type ServerEvent = { event: string; data: Record<string, unknown> }

/** Reads server-sent events to the end of the stream. Comments and events without data are left out. */
export async function* readEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const bytes of stream) {
    text += decoder.decode(bytes, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const data = fieldIn(block, 'data')
      if (data !== null) yield { event: fieldIn(block, 'event') ?? 'message', data: JSON.parse(data) }
    }
  }
}

function fieldIn(block: string, name: string): string | null {
  const line = block.split('\n').find((candidate) => candidate.startsWith(`${name}: `))
  return line === undefined ? null : line.slice(name.length + 2)
}
