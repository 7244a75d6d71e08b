import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { passing } from '../../test/harness/passing.ts'
import { AppError } from '../kernel/errors.ts'
import { makeLog } from '../platform/log.ts'
import { JournalFiles } from './journal-file.ts'
import { makeLateWrites } from './late-writes.ts'

it('takes no more than it may have waiting, however many come within the second before the first is on the disk', async () => {
  const clock = new TestClock()
  const folder = await mkdtemp(join(tmpdir(), 'journal-'))
  const files = new JournalFiles({ folder, node: 'n1', clock, log: makeLog({ level: 'silent', secrets: [] }) })
  await files.start()
  const writes = makeLateWrites<number>({
    ...{ clock, files, maxWaiting: 3, refused: () => {} },
    keptAs: (late) => ({ kind: 'unanswered', body: late }),
    async write() {
      throw new AppError('unavailable', 'The database is not reachable.')
    },
  })
  const answers: boolean[] = []
  for (const late of [1, 2, 3, 4, 5]) void writes.take(late).then((isTaken) => answers.push(isTaken))
  await passing(clock, () => answers.length === 5, { what: 'all five to be answered' })
  expect(answers.toSorted()).toEqual([false, false, true, true, true])
  expect(await writes.take(6)).toBe(false)
  await writes.close()
  await files.close()
})
