// Loaded before the service (`--import`): the journal begins another file after 1 KiB in place of 8 MiB, which no test could
// make callers say. Everything else is the service's own.
import { registerHooks } from 'node:module'

const FILE = '/records/journal-segments.ts'
const [OWN, SMALL] = ['const SEGMENT_BYTES = 8 * 1024 * 1024', 'const SEGMENT_BYTES = 1024']

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.endsWith(FILE)) return loaded
    const source = String(loaded.source)
    if (!source.includes(OWN)) throw new Error(`${FILE} does not say how long a file is as it did`)
    return { ...loaded, source: source.replace(OWN, SMALL) }
  },
})
