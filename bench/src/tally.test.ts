import { describe, expect, it } from 'vitest'
import { nowUs, Tally } from './tally.ts'

describe('Tally', () => {
  it('gives the 50th and the 99th percentile of what was sent inside the window', () => {
    const tally = new Tally()
    tally.frameArrived(nowUs(), nowUs() + 5_000_000)
    tally.open()
    const sentUs = nowUs()
    for (let delayMs = 1; delayMs <= 100; delayMs++) {
      tally.frameSent(sentUs)
      tally.frameArrived(sentUs, sentUs + delayMs * 1_000)
    }
    const { callerToModel, callSeconds, faults } = tally.report()
    expect(callerToModel.count).toBe(100)
    expect(callerToModel.p50Ms).toBeCloseTo(50, 0)
    expect(callerToModel.p99Ms).toBeCloseTo(99, 0)
    expect(callSeconds).toBe(2)
    expect(faults.late).toBe(80)
  })

  it('still takes what arrives after the window if it was sent before its end, and nothing sent outside', () => {
    const tally = new Tally()
    const beforeUs = nowUs() - 1
    tally.open()
    const insideUs = nowUs()
    while (nowUs() === insideUs);
    tally.close()
    const afterUs = nowUs() + 1
    for (const sentUs of [beforeUs, insideUs, afterUs]) tally.firstDeltaArrived(sentUs, afterUs + 1_000)
    expect(tally.report().firstDelta.count).toBe(1)
  })
})
