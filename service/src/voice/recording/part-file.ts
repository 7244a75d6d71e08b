import type { FileHandle } from 'node:fs/promises'
import { STORED_FRAME_BYTES, STORED_HEADER_BYTES, storedHeader } from '../../records/recording-wav.ts'
import type { BlockSink } from './recorder.ts'

/**
 * A part's file. After each block its head is written anew, so a process that is killed leaves a file that plays; what the
 * head does not know of yet is a block at most.
 */
export class PartFile implements BlockSink {
  readonly #file: Pick<FileHandle, 'write' | 'close'>
  #frames = 0

  constructor(file: Pick<FileHandle, 'write' | 'close'>) {
    this.#file = file
  }

  async write(block: Uint8Array): Promise<void> {
    const at = STORED_HEADER_BYTES + this.#frames * STORED_FRAME_BYTES
    const { bytesWritten } = await this.#file.write(block, 0, block.length, at)
    if (bytesWritten < block.length) throw new Error('the disk took only a part of a block')
    const frames = this.#frames + block.length / STORED_FRAME_BYTES
    await this.#file.write(storedHeader(frames), 0, STORED_HEADER_BYTES, 0)
    this.#frames = frames
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}
