import { readFile } from 'node:fs/promises'
import { type KeptAnswer, keepAnswer } from './kept-answer.ts'

const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
  wasm: 'application/wasm',
  wav: 'audio/wav',
  woff2: 'font/woff2',
}

/** A file of the built dashboard: one with a hash in its name, or one that stands beside the page. */
const NAME = /^(?:assets\/)?[\w-][\w.-]*\.(\w+)$/

/** The dashboard as it was built, or was not. */
export class DashboardFiles {
  readonly #folder: URL
  readonly #kept = new Map<string, Promise<KeptAnswer | null>>()

  /** @param folder ends with a slash; it need not be there. */
  constructor(folder: URL) {
    this.#folder = folder
  }

  /** The page, as the last build left it; null when there was none. */
  async page(): Promise<string | null> {
    const content = await this.#read('index.html')
    return content?.toString('utf8') ?? null
  }

  /** The file at this path below `/app/`, or null. What has a hash in its name is read once, whoever asks for it meanwhile. */
  async file(path: string): Promise<KeptAnswer | null> {
    const [, ending = ''] = NAME.exec(path) ?? []
    const type = TYPES[ending]
    if (type === undefined) return null
    if (!isHashed(path)) return this.#make(path, type)
    const known = this.#kept.get(path)
    if (known) return known
    const made = this.#make(path, type)
    this.#kept.set(path, made)
    const isThere = await made.then(Boolean, () => false)
    if (!isThere) this.#kept.delete(path)
    return made
  }

  async #make(path: string, type: string): Promise<KeptAnswer | null> {
    const content = await this.#read(path)
    return content && keepAnswer(type, content)
  }

  async #read(path: string): Promise<Buffer | null> {
    return readFile(new URL(path, this.#folder)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'EISDIR') return null
      throw error
    })
  }
}

/** Whether a path names its content, so that whoever has it need not ask again. */
export function isHashed(path: string): boolean {
  return path.startsWith('assets/')
}
