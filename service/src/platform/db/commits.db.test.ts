import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { useDatabase } from '../../../test/harness/database.ts'
import { currentRequestId, RequestScope } from '../current-request.ts'
import { noteForCommit, onCommit } from './commits.ts'

const test = useDatabase()
let told: string[][]

beforeEach(() => {
  told = []
  onTestFinished(onCommit(test.db, 'news', (notes) => void told.push(notes)))
})

describe('what is noted in a transaction', () => {
  it('is told once it is committed, each note once', async () => {
    const result = await test.db.transaction().execute(async (tx) => {
      for (const note of ['a', 'b', 'a']) noteForCommit(tx, 'news', note)
      noteForCommit(tx, 'other news', 'c')
      expect(told).toEqual([])
      return 7
    })
    expect([result, told]).toEqual([7, [['a', 'b']]])
  })

  it('is never told when it is rolled back', async () => {
    const failed = test.db.transaction().execute(async (tx) => {
      noteForCommit(tx, 'news', 'a')
      throw new Error('no')
    })
    await expect(failed).rejects.toThrow('no')
    expect(told).toEqual([])
  })

  it('is not told to who listens no more, nor over another handle', async () => {
    const more: string[][] = []
    const stop = onCommit(test.db, 'news', (notes) => void more.push(notes))
    stop()
    await test.db.transaction().execute(async (tx) => noteForCommit(tx, 'news', 'a'))
    expect([told, more]).toEqual([[['a']], []])
  })

  it('is told as the work of no request: whoever hears of it may do something for others, too', async () => {
    const during: (string | null)[] = []
    onTestFinished(onCommit(test.db, 'news', () => void during.push(currentRequestId())))
    const request = new RequestScope(
      { id: 'r1', isReading: false },
      new ServerResponse(new IncomingMessage(new Socket())),
    )
    await new Promise<void>((resolve, reject) => {
      request.run(() => {
        const written = test.db.transaction().execute(async (tx) => {
          during.push(currentRequestId())
          noteForCommit(tx, 'news', 'a')
        })
        written.then(resolve, reject)
      })
    })
    expect(during).toEqual(['r1', null])
  })
})
