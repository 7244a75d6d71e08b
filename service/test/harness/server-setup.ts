import { env } from 'node:process'
import type { TestProject } from 'vitest/node'
import { makeServerTemplate, removeTemplate } from './template.ts'

/**
 * Runs once before the test files of the project `server`; what it returns runs after them.
 *
 * @throws Error when no server was named: these tests must not be passed over without a word.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { PARLEY_TEST_DATABASE_URL: url } = env
  if (!url) {
    throw new Error(
      'PARLEY_TEST_DATABASE_URL is not set: `npm test` starts a PostgreSQL server and sets it. ' +
        'Without a server: npx vitest run --project unit --project embedded',
    )
  }
  const template = await makeServerTemplate(url)
  project.provide('databaseTemplate', template)
  return () => removeTemplate(template)
}
