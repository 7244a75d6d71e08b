import { readFile } from 'node:fs/promises'
import { hashOf, type KeptAnswer, keepAnswer } from './kept-answer.ts'

/** Where the files of pages are: their names have their hash in them, so that whoever has one need not ask again. */
export const ASSETS_PATH = '/page-assets'

const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
}

/** The files that pages refer to. */
export class PageAssets {
  readonly #kept = new Map<string, KeptAnswer>()
  readonly #addresses = new Map<string, string>()

  /** Keeps a file of the disk; returns its address. Again, it returns the same. @throws Error for one that is not there. */
  async addFile(file: URL): Promise<string> {
    const known = this.#addresses.get(file.href)
    if (known !== undefined) return known
    const address = await this.add(file.pathname.split('/').at(-1) ?? '', await readFile(file))
    this.#addresses.set(file.href, address)
    return address
  }

  /** Keeps a file of this name and content; returns its address. */
  async add(name: string, content: Buffer): Promise<string> {
    const dot = name.lastIndexOf('.')
    const hashed = `${name.slice(0, dot)}-${hashOf(content)}${name.slice(dot)}`
    if (!this.#kept.has(hashed)) {
      const type = TYPES[name.slice(dot + 1)] ?? 'application/octet-stream'
      this.#kept.set(hashed, await keepAnswer(type, content))
    }
    return `${ASSETS_PATH}/${hashed}`
  }

  /** The file of this hashed name. */
  find(hashed: string): KeptAnswer | null {
    return this.#kept.get(hashed) ?? null
  }
}
