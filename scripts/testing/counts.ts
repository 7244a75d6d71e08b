import { existsSync, readFileSync } from 'node:fs'

/** What a test run came to. */
export type Counts = { passed: number; failed: number }

type Assertion = { status: string }
type FileResult = { status: string; assertionResults: Assertion[] }

function read(path: string): FileResult[] {
  if (!existsSync(path)) return []
  const report: { testResults: FileResult[] } = JSON.parse(readFileSync(path, 'utf8'))
  return report.testResults
}

/** A file that failed without a failed test (it did not load, a hook threw) counts as one failure. */
function failuresOf(file: FileResult): number {
  const failed = file.assertionResults.filter(({ status }) => status === 'failed').length
  return failed === 0 && file.status === 'failed' ? 1 : failed
}

/**
 * Counts a vitest JSON report.
 *
 * A run that failed although no test did (an error outside every test, no report at all, or not one test that ran)
 * has one failure, so that the line never reads like a success.
 */
export function countResults(reportPath: string, exitCode: number): Counts {
  const files = read(reportPath)
  const passed = files.flatMap((file) => file.assertionResults).filter(({ status }) => status === 'passed').length
  const failed = files.reduce((sum, file) => sum + failuresOf(file), 0)
  const failedOtherwise = failed === 0 && (exitCode !== 0 || passed === 0)
  return { passed, failed: failedOtherwise ? 1 : failed }
}
