import { describe, expect, it } from 'vitest'
import type { ModelCommand, ModelEvent, ModelListener } from '../platform/realtime/port.ts'
import { ModelLink } from './model-link.ts'

/** The session of a driver that writes down what it is told, and the link to it. */
function linked(epoch: number) {
  const commands: ModelCommand[] = []
  const events: ModelEvent[] = []
  const audio: string[] = []
  const drivers: ModelListener[] = []
  let closes = 0
  const link = new ModelLink(
    epoch,
    (listener) => {
      drivers.push(listener)
      return {
        append: () => {},
        send: (command) => void commands.push(command),
        bufferedBytes: () => 7,
        close: () => {
          closes += 1
        },
      }
    },
    {
      event: (event) => void events.push(event),
      audio: (responseId, itemId) => void audio.push(`${responseId} ${itemId}`),
    },
  )
  return { link, driver: drivers[0], commands, events, audio, closes: () => closes }
}

const CALL = { responseId: 'resp_1', itemId: 'item_1', callId: 'call_1' }

describe('The ids of a call’s model sessions', () => {
  it('are the driver’s own in the first session', () => {
    const { link, driver, commands, events } = linked(1)
    driver?.event({ type: 'tool_call', ...CALL, name: 'x', argumentsText: '{}' })
    link.send({ type: 'truncate', itemId: 'item_1', audioEndMs: 5 })
    expect(events).toMatchObject([CALL])
    expect(commands).toEqual([{ type: 'truncate', itemId: 'item_1', audioEndMs: 5 }])
  })

  it('are never those of an earlier one, and go back to the driver as it knows them', () => {
    const { link, driver, commands, events, audio } = linked(2)
    driver?.event({ type: 'tool_call', ...CALL, name: 'x', argumentsText: '{}' })
    driver?.event({ type: 'committed', itemId: 'item_2', previousItemId: 'item_1' })
    driver?.event({ type: 'committed', itemId: 'item_1', previousItemId: null })
    driver?.audio('resp_1', 'item_1', Buffer.alloc(0))
    expect(events).toMatchObject([
      { responseId: '2·resp_1', itemId: '2·item_1', callId: '2·call_1' },
      { itemId: '2·item_2', previousItemId: '2·item_1' },
      { itemId: '2·item_1', previousItemId: null },
    ])
    expect(audio).toEqual(['2·resp_1 2·item_1'])
    link.send({ type: 'tool_result', callId: '2·call_1', output: 'ok' })
    link.send({ type: 'cancel', responseId: '2·resp_1' })
    expect(commands).toEqual([
      { type: 'tool_result', callId: 'call_1', output: 'ok' },
      { type: 'cancel', responseId: 'resp_1' },
    ])
  })

  it('of another session reach no driver', () => {
    for (const [epoch, itemId] of [
      [2, 'item_1'],
      [2, '3·item_1'],
      [1, '2·item_1'],
    ] as const) {
      const { link, commands } = linked(epoch)
      link.send({ type: 'delete_item', itemId })
      expect(commands).toEqual([])
    }
  })

  it('of our own are not touched', () => {
    const { link, commands } = linked(3)
    link.send({ type: 'respond', requestId: 'ask-3-1', instructions: null })
    link.send({ type: 'system_message', text: 'item_1' })
    expect(commands).toEqual([
      { type: 'respond', requestId: 'ask-3-1', instructions: null },
      { type: 'system_message', text: 'item_1' },
    ])
  })
})

describe('A link that is open', () => {
  it('tells how much its session has not sent yet', () => {
    expect(linked(2).link.bufferedBytes()).toBe(7)
  })
})

describe('A closed link', () => {
  it('is closed once, and nothing comes out of it', () => {
    const { link, driver, events, audio, closes } = linked(1)
    link.close()
    link.close()
    driver?.event({ type: 'ready' })
    driver?.audio('resp_1', 'item_1', Buffer.alloc(0))
    expect([closes(), events, audio]).toEqual([1, [], []])
  })
})
