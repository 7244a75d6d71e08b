import { defineConfig } from 'vitest/config'
import { ON_ONE_DATABASE } from './scripts/testing/one-database.ts'
import { WaitingFirst } from './scripts/testing/waiting-first.ts'

const DATABASE_TESTS = '**/*.db.test.ts'
/** In which calls are taken all the while, and what a page costs is measured. */
const BROWSER_CALL_TESTS = ['-live', '-live-voices', '-long-list', '-placed'].map(
  (of) => `service/test/dashboard${of}.test.ts`,
)
const BROWSER_TESTS = ['service/test/pages.test.ts', 'service/test/dashboard*.test.ts']
const SETUP_FILES = ['harness/ledger-setup', 'harness/chosen-values', 'interface/broken-routes'].map(
  (path) => `service/test/${path}.ts`,
)
const NOT_OURS = ['**/node_modules/**', 'data/**', 'tmp/**']

/** Processes that stand still now and then leave the processor to as many others. */
const TIMES = process.env['PARLEY_TEST_SHAKEN'] ? 2 : 1
/** Work for both cores all the while. */
const BUSY = { sequence: { groupOrder: 0 }, maxWorkers: 4 * TIMES }
/** Behind that: among these are all that hear calls at their own pace, in which a worker waits, or that wait for a program. */
const WAITING = { sequence: { groupOrder: 1 }, maxWorkers: 5 * TIMES }

/** The same files on both databases, but for those that every change runs on one; the setup makes the one that they run on. */
function databaseProject(name: 'embedded' | 'server') {
  const others = process.env['PARLEY_TEST_ONE_DATABASE']
    ? ON_ONE_DATABASE[name === 'server' ? 'embedded' : 'server']
    : []
  return {
    extends: true as const,
    test: {
      ...{ name, include: [DATABASE_TESTS], exclude: [...NOT_OURS, ...others] },
      ...(name === 'embedded' ? BUSY : WAITING),
      globalSetup: `service/test/harness/${name}-setup.ts`,
    },
  }
}

/** On the embedded database, after all projects of a lower `groupOrder`. */
function browserProject(name: string, { include, exclude = [], groupOrder, maxWorkers }: BrowserFiles) {
  return {
    extends: true as const,
    test: {
      ...{ name, include, exclude: [...NOT_OURS, ...exclude], globalSetup: 'service/test/harness/embedded-setup.ts' },
      ...{ sequence: { groupOrder }, maxWorkers },
    },
  }
}

type BrowserFiles = { include: string[]; exclude?: string[]; groupOrder: number; maxWorkers: number }

export default defineConfig({
  test: {
    pool: 'forks',
    // A process for each file would load all modules again for each, and start another embedded database.
    isolate: false,
    sequence: { sequencer: WaitingFirst },
    // What has to be quick says so itself: these are far from what a machine of half the speed needs that does something else as well.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 45_000 } },
    setupFiles: SETUP_FILES,
    projects: [
      {
        extends: true,
        test: {
          ...{ name: 'unit', include: ['**/*.test.ts'], exclude: [...NOT_OURS, ...BROWSER_TESTS, DATABASE_TESTS] },
          ...WAITING,
        },
      },
      databaseProject('embedded'),
      databaseProject('server'),
      // When all others are through: a browser takes much of the machine, and calls that are heard at their own pace would stutter
      // beside it. Most of the time a test waits for its page, so three share two cores. A service beside other browsers takes no calls
      // once it is warm: where it has to, two files share the machine, which has little to do then. One call at its start it takes.
      browserProject('browser', {
        ...{ include: BROWSER_TESTS, exclude: BROWSER_CALL_TESTS, groupOrder: 2, maxWorkers: 3 },
      }),
      browserProject('browser-calls', {
        ...{ include: BROWSER_CALL_TESTS, groupOrder: 3 },
        // What a page costs is measured in a run of everything alone.
        maxWorkers: process.env['PARLEY_TEST_FULL'] ? 1 : 2,
      }),
    ],
  },
})
