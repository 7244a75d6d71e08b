import { defineConfig } from 'vitest/config'

const DATABASE_TESTS = '**/*.db.test.ts'
/** A browser takes all that the machine has, and calls that are heard at their own pace would stutter beside it. */
const BROWSER_TESTS = ['service/test/pages.test.ts', 'service/test/dashboard*.test.ts']
const NOT_OURS = ['**/node_modules/**', 'data/**', 'tmp/**']

/** The same files on both databases; the setup makes the one that they run on. */
function databaseProject(name: 'embedded' | 'server') {
  return {
    extends: true as const,
    test: { name, include: [DATABASE_TESTS], exclude: NOT_OURS, globalSetup: `service/test/harness/${name}-setup.ts` },
  }
}

export default defineConfig({
  test: {
    pool: 'forks',
    // A process for each file would load all modules again for each, and start another embedded database.
    isolate: false,
    // One more than the smallest machine has cores: calls are heard at their own pace, and wait most of the time.
    maxWorkers: 3,
    testTimeout: 15_000,
    hookTimeout: 30_000,
    setupFiles: ['service/test/harness/ledger-setup.ts', 'service/test/interface/broken-routes.ts'],
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['**/*.test.ts'], exclude: [...NOT_OURS, ...BROWSER_TESTS, DATABASE_TESTS] },
      },
      databaseProject('embedded'),
      databaseProject('server'),
      // When all others are through, one after the other: a service beside three browsers takes no calls.
      { extends: true, test: { name: 'browser', include: BROWSER_TESTS, sequence: { groupOrder: 1 }, maxWorkers: 1 } },
    ],
  },
})
