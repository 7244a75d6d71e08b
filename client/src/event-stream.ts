/** A server-sent event; `data` is its JSON. */
export type ServerEvent = { id: string; event: string; data: unknown }

/** Reads a stream of Parley's to its end. `heard` is called whenever something comes, be it only a sign of life. */
export async function* readEvents(
  stream: ReadableStream<Uint8Array>,
  heard: () => void,
): AsyncGenerator<ServerEvent, void, undefined> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of stream) {
    heard()
    const blocks = (text + decoder.decode(bytes, { stream: true })).split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const { id = '', event = 'message', data } = fieldsOf(block)
      if (data !== undefined) yield { id, event, data: JSON.parse(data) }
    }
  }
}

/** A field is a line, as the service writes them; a comment has no name. */
function fieldsOf(block: string): { id?: string; event?: string; data?: string } {
  const fields = block.split('\n').map((line): [string, string] => {
    const [name = '', value = ''] = line.split(/: (.*)/s, 2)
    return [name, value]
  })
  return Object.fromEntries(fields)
}
