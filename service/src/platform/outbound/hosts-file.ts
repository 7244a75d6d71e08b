import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'

/** The addresses that the machine itself knows of a name; empty when it knows none. Never rejects. */
export type HostsFile = (host: string) => Promise<string[]>

type Known = { mtimeMs: number; size: number; names: ReadonlyMap<string, string[]> }

/** RFC 6761, section 6.3: the machine itself, whether its file says so or not. */
const LOOPBACK = ['127.0.0.1', '::1']

/** Reads a hosts file, again only once it was changed. One that is not there, or cannot be read, has no names in it. */
export function makeHostsFile(path: string): HostsFile {
  let known: Known | null = null

  async function namesNow(): Promise<Known['names']> {
    const { mtimeMs, size } = await stat(path)
    if (known?.mtimeMs === mtimeMs && known.size === size) return known.names
    const names = namesIn(await readFile(path, 'utf8'))
    known = { mtimeMs, size, names }
    return names
  }

  return async (host) => {
    const name = host.toLowerCase()
    const names: Known['names'] = await namesNow().catch(() => new Map())
    return names.get(name) ?? (name === 'localhost' || name.endsWith('.localhost') ? LOOPBACK : [])
  }
}

/** Each line is an address, its name and its other names; what stands behind a # is for people. */
function namesIn(text: string): Map<string, string[]> {
  const names = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...named] = line.replace(/#.*/, '').trim().split(/\s+/)
    // An address of one interface only (fe80::1%lo0) is none that a connection can be checked by.
    if (isIP(address) === 0 || address.includes('%')) continue
    for (const name of named) {
      const before = names.get(name.toLowerCase()) ?? []
      if (!before.includes(address)) names.set(name.toLowerCase(), [...before, address])
    }
  }
  return names
}
