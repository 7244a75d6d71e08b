import { join } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const ROOT = join(import.meta.dirname, '..', '..')

/** Files that listen to whole calls at their own pace: half a minute or more, in which they need little of the processor. */
export const WAITING: readonly string[] = ['service/test/demo.test.ts', 'service/test/second-voice.db.test.ts'].map(
  (path) => join(ROOT, path),
)

/**
 * Of each project those files first that mostly wait, and the others as they are. Begun last they would be waited for by a machine
 * that has nothing else to do. Projects stay together, so that a worker keeps what it has loaded.
 */
export function waitingFirst<File extends Pick<TestSpecification, 'moduleId'> & { project: unknown }>(
  files: readonly File[],
): File[] {
  const isWaiting = ({ moduleId }: File) => WAITING.includes(moduleId)
  const projects = [...new Set(files.map(({ project }) => project))]
  return projects.flatMap((project) => {
    const own = files.filter((file) => file.project === project)
    return [...own.filter(isWaiting), ...own.filter((file) => !isWaiting(file))]
  })
}

/** The order of the files in `npm test`: vitest's own, but for those that wait. */
export class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return waitingFirst(await super.sort(files))
  }
}
