type Sound = { hz: number; coding?: number; channels?: number; bits?: number } & (
  | { samples: readonly number[]; bytes?: never }
  | { bytes: Buffer; samples?: never }
)

/** A WAV file; its head says what it is told to. */
export function wavFile({ hz, coding = 1, channels = 1, bits = 16, samples, bytes }: Sound): Buffer {
  const data = bytes ?? Buffer.from(new Int16Array(samples).buffer)
  const head = Buffer.alloc(44)
  head.write('RIFF', 0, 'latin1')
  head.writeUInt32LE(36 + data.length, 4)
  head.write('WAVEfmt ', 8, 'latin1')
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(coding, 20)
  head.writeUInt16LE(channels, 22)
  head.writeUInt32LE(hz, 24)
  head.writeUInt32LE((hz * channels * bits) / 8, 28)
  head.writeUInt16LE((channels * bits) / 8, 32)
  head.writeUInt16LE(bits, 34)
  head.write('data', 36, 'latin1')
  head.writeUInt32LE(data.length, 40)
  return Buffer.concat([head, data])
}
