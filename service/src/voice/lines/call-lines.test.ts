import { expect, it } from 'vitest'
import { TestClock } from '../../../test/harness/clock.ts'
import { CallLines } from './call-lines.ts'

it('A person who has a call hears its caller at the time that was spoken for, whatever the length of the frames', () => {
  const lines: CallLines = new CallLines({
    clock: new TestClock(),
    media: { hearBy: () => {}, play: () => 0 },
    callSid: 'CA1',
    dispatch: ({ type }) => type === 'take_over' && lines.connect('person-1'),
    leftMs: () => 0,
    openScribe: null,
  })
  const heardAtMs: number[] = []
  lines.takeOver({ audio: ({ atMs }) => heardAtMs.push(atMs), over: () => {} }, null)
  for (const ms of [20, 200, 10, 60]) lines.caller(Buffer.from(Buffer.alloc(8 * ms, 0xff).toString('base64')))
  expect(heardAtMs).toEqual([0, 20, 220, 230])
})
