import { describe, expect, it } from 'vitest'
import { changedOver, changesOf, draftOf } from './task-edit.ts'
import type { Task } from './task-queries.ts'

const TASK = {
  ...{ queue_key: 'default', priority: 'normal', summary: 'A chair.', notes: null, due_at: null },
  ...{ sla_due_at: '2030-01-31T09:05:30.500Z', metadata: { external_ticket: { id: 7 } } },
} as unknown as Task

describe('a task that is edited', () => {
  it('has no changes as long as nobody has written any, whatever its times are to the second', () => {
    expect(changesOf(draftOf(TASK))).toEqual({})
  })

  it('has those that were written', () => {
    const draft = { ...draftOf(TASK), notes: 'Green.', sla_due_at: '' }
    expect(changesOf(draft)).toEqual({ notes: 'Green.', sla_due_at: '' })
  })

  it('keeps what somebody else has changed meanwhile, beside them', () => {
    const mine = { ...draftOf(TASK), notes: 'Green.' }
    const stored = draftOf({ ...TASK, notes: 'Red.', priority: 'urgent' })
    const over = changedOver(mine, stored)
    expect(over).toMatchObject({ notes: 'Green.', priority: 'urgent' })
    expect(changesOf(over)).toEqual({ notes: 'Green.' })
  })
})
