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
  readonly #kept = new Map<string, KeptAnswer>()

  /** @param folder ends with a slash; it need not be there. */
  constructor(folder: URL) {
    this.#folder = folder
  }

  /** The page, as the last build left it; null when there was none. */
  async page(): Promise<string | null> {
    const content = await this.#read('index.html')
    return content?.toString('utf8') ?? null
  }

  /** The file at this path below `/app/`, or null. What has a hash in its name is read once. */
  async file(path: string): Promise<KeptAnswer | null> {
    const [, ending = ''] = NAME.exec(path) ?? []
    const type = TYPES[ending]
    if (type === undefined) return null
    const known = this.#kept.get(path)
    if (known) return known
    const content = await this.#read(path)
    if (content === null) return null
    const answer = await keepAnswer(type, content)
    if (isHashed(path)) this.#kept.set(path, answer)
    return answer
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
