import { describe, expect, it } from 'vitest'
import { FrameCutter } from './frame-cutter.ts'

const counting = (length: number) => Uint8Array.from({ length }, (_none, at) => at % 251)

describe('FrameCutter', () => {
  it.each([1, 7, 147, 160, 161, 400])('cuts blocks of %i bytes into frames of 160 and loses none', (size) => {
    const whole = counting(1_600)
    const cutter = new FrameCutter()
    const frames: Uint8Array[] = []
    for (let at = 0; at < whole.length; at += size) frames.push(...cutter.push(whole.subarray(at, at + size)))
    expect(frames.map(({ length }) => length)).toEqual(Array.from({ length: 10 }, () => 160))
    expect(frames.flatMap((frame) => [...frame])).toEqual([...whole])
  })

  it('gives no frame before it is full', () => {
    expect(new FrameCutter().push(counting(159))).toEqual([])
  })
})
