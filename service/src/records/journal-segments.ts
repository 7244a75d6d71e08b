import { type FileHandle, open, rm } from 'node:fs/promises'

/** As much of a file as is needed to write it. */
export type OpenFile = (path: string) => Promise<Pick<FileHandle, 'appendFile' | 'datasync' | 'truncate' | 'close'>>

/** `isUsed`: something of it is on the disk. */
type Segment = { path: string; sizeBytes: number; waiting: Set<number>; isUsed: boolean }

type Options = { openFile?: OpenFile | undefined; segmentBytes?: number | undefined }

const SEGMENT_BYTES = 8 * 1024 * 1024

const openPrivate: OpenFile = (path) => open(path, 'ax', 0o600)

/**
 * Files `<prefix>-<n>.log` that are written one after the other, each removed once nothing that stands in it, or in one before
 * it, waits any more: a later file says what of an earlier one is settled. Not to be used by two at a time.
 */
export class JournalSegments {
  readonly #prefix: string
  readonly #open: OpenFile
  readonly #segmentBytes: number
  #segments: Segment[] = []
  #handle: Awaited<ReturnType<OpenFile>> | null = null
  #count = 0

  constructor(prefix: string, { openFile = openPrivate, segmentBytes = SEGMENT_BYTES }: Options = {}) {
    this.#prefix = prefix
    this.#open = openFile
    this.#segmentBytes = segmentBytes
  }

  get sizeBytes(): number {
    return this.#segments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  }

  get isEmpty(): boolean {
    return this.#segments.length === 0
  }

  /** How many of what was appended wait still. */
  get waiting(): number {
    return this.#segments.reduce((sum, { waiting }) => sum + waiting.size, 0)
  }

  /** Resolves when the bytes are on the disk. @throws what the file system throws: then they are not, unless it cannot be cut either. */
  async append(bytes: Buffer, ids: number[]): Promise<void> {
    const segment = await this.#current()
    const { sizeBytes } = segment
    segment.sizeBytes += bytes.length
    try {
      await this.#handle?.appendFile(bytes)
      await this.#handle?.datasync()
    } catch (error) {
      segment.sizeBytes = sizeBytes
      await this.#abandon(segment)
      throw error
    }
    segment.isUsed = true
    for (const id of ids) segment.waiting.add(id)
  }

  /** @returns those of `ids` that waited. */
  settle(ids: number[]): number[] {
    return ids.filter((id) => this.#segments.some(({ waiting }) => waiting.delete(id)))
  }

  /** Removes files from the oldest on, as far as nothing in them waits. */
  async removeSettled(): Promise<void> {
    for (let first = this.#segments[0]; first?.waiting.size === 0; first = this.#segments[0]) {
      if (this.#segments.length === 1) await this.close()
      await rm(first.path, { force: true })
      this.#segments.shift()
    }
  }

  /** Lets go of the file that is written; a further `append` begins another. */
  async close(): Promise<void> {
    const handle = this.#handle
    this.#handle = null
    await handle?.close()
  }

  async #current(): Promise<Segment> {
    const last = this.#segments.at(-1)
    if (last && this.#handle && last.sizeBytes < this.#segmentBytes) return last
    await this.close()
    this.#count += 1
    const path = `${this.#prefix}-${this.#count}.log`
    this.#handle = await this.#open(path)
    const segment = { path, sizeBytes: 0, waiting: new Set<number>(), isUsed: false }
    this.#segments.push(segment)
    return segment
  }

  /** Whoever handed over what the file may end in now was told that it is not there. Should it not be cut off, nothing may follow half a line. */
  async #abandon(segment: Segment): Promise<void> {
    await this.#handle?.truncate(segment.sizeBytes).catch(() => undefined)
    await this.close().catch(() => undefined)
    if (segment.isUsed) return
    this.#segments.pop()
    await rm(segment.path, { force: true }).catch(() => undefined)
  }
}
