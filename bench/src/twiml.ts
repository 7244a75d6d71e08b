const STREAM = /<Stream\b([^>]*)>/
const PARAMETER = /<Parameter\b([^>]*)>/g
const ATTRIBUTE = /([A-Za-z]+)="([^"]*)"/g
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** A media stream as instructions name it. `statusPath`: where the carrier tells what becomes of it, when it shall. */
export type NamedStream = { path: string; parameters: Record<string, string>; statusPath: string | undefined }

/**
 * The media stream that a document of instructions asks for; undefined when it asks for none. Of addresses only the path
 * is given. @throws Error when the address is missing or no address.
 */
export function readStream(document: string): NamedStream | undefined {
  const [, attributes] = STREAM.exec(document) ?? []
  if (attributes === undefined) return undefined
  const { url = '', statusCallback } = attributesOf(attributes)
  const { pathname } = new URL(url)
  const parameters = [...document.matchAll(PARAMETER)].map(([, text = '']) => attributesOf(text))
  return {
    path: pathname,
    statusPath: statusCallback === undefined ? undefined : new URL(statusCallback).pathname,
    parameters: Object.fromEntries(parameters.map(({ name = '', value = '' }) => [name, value])),
  }
}

function attributesOf(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(ATTRIBUTE)].map(([, name = '', value = '']) => [name, unescaped(value)]))
}

function unescaped(text: string): string {
  return text.replace(/&(#\d+|#x[\da-f]+|[a-z]+);/gi, (whole, entity: string) => {
    if (entity.startsWith('#x')) return String.fromCodePoint(Number.parseInt(entity.slice(2), 16))
    if (entity.startsWith('#')) return String.fromCodePoint(Number(entity.slice(1)))
    return ENTITIES[entity] ?? whole
  })
}
