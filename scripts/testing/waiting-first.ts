import { join } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const ROOT = join(import.meta.dirname, '..', '..')

/**
 * Files that listen to whole calls at their own pace: half a minute or more, in which they need little of the processor. The longest
 * first.
 */
export const WAITING: readonly string[] = [
  'service/test/second-voice.db.test.ts',
  'service/test/demo.test.ts',
  'service/test/simulations-by-voice.db.test.ts',
  'service/test/who-answered.db.test.ts',
  'service/test/taken-over-call.db.test.ts',
  'service/test/said-ahead.db.test.ts',
].map((path) => join(ROOT, path))

/** Others that begin between two that wait: if all of these began together, every worker would wait, and the processor for them. */
export const APART_FILES = 12

/**
 * Of each project those files early that mostly wait, apart from each other, and the others as they are. Begun last they would be waited
 * for by a machine that has nothing else to do. Projects stay together, so that a worker keeps what it has loaded.
 */
export function waitingFirst<File extends Pick<TestSpecification, 'moduleId'> & { project: unknown }>(
  files: readonly File[],
): File[] {
  const projects = [...new Set(files.map(({ project }) => project))]
  return projects.flatMap((project) => {
    const own = files.filter((file) => file.project === project)
    const waiting = WAITING.flatMap((path) => own.filter(({ moduleId }) => moduleId === path))
    return spread(
      waiting,
      own.filter((file) => !waiting.includes(file)),
    )
  })
}

function spread<File>(waiting: readonly File[], others: readonly File[]): File[] {
  const from = (at: number) => at * APART_FILES
  const begun = waiting.flatMap((file, at) => [file, ...others.slice(from(at), from(at + 1))])
  return [...begun, ...others.slice(from(waiting.length))]
}

/** The order of the files in `npm test`: vitest's own, but for those that wait. */
export class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return waitingFirst(await super.sort(files))
  }
}
