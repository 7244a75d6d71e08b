import { makeRecordingFiles, pathOfPart, type RecordingFiles } from './recording-files.ts'
import { storedHeader } from './recording-wav.ts'
import type { RecordingPart } from './recordings.ts'

/** A part on the disk in which the caller makes one sound and the agent another, for so long; `head` frames are told in its head. */
export async function writePart(
  folder: string,
  { tenant, sessionId, part }: Pick<RecordingPart, 'tenant' | 'sessionId' | 'part'>,
  audio: { left: number; right: number; ms: number; headFrames?: number },
): Promise<void> {
  const frames = audio.ms * 8
  const files: RecordingFiles = makeRecordingFiles(folder)
  const file = await files.create(pathOfPart(tenant.tenant_id, sessionId, part))
  const block = Buffer.alloc(frames * 2, Buffer.from([audio.left, audio.right]))
  await file.write(Buffer.concat([storedHeader(audio.headFrames ?? frames), block]))
  await file.close()
}

type Wav = { format: number; channels: number; rate: number; left: Int16Array; right: Int16Array }

/** Reads a served recording. @throws Error when its head does not fit what follows. */
export function readWav(wav: Buffer): Wav {
  const dataBytes = wav.readUInt32LE(40)
  if (wav.toString('latin1', 0, 4) !== 'RIFF' || wav.toString('latin1', 36, 40) !== 'data') throw new Error('no WAV')
  if (wav.readUInt32LE(4) !== wav.length - 8 || dataBytes !== wav.length - 44) throw new Error('the sizes are wrong')
  const channel = (offset: number) =>
    Int16Array.from({ length: dataBytes / 4 }, (_, frame) => wav.readInt16LE(44 + 4 * frame + offset))
  return {
    ...{ format: wav.readUInt16LE(20), channels: wav.readUInt16LE(22), rate: wav.readUInt32LE(24) },
    ...{ left: channel(0), right: channel(2) },
  }
}
