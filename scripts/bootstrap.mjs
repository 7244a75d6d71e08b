// Runs before `npm start` and `npm test`. Built-ins only, and nothing newer than Node 18: it is what makes the rest runnable.
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildDashboardWhenStale } from './launch/build-dashboard.mjs'
import { writeEnvFileOnce } from './launch/env-file.mjs'
import { installWhenStale } from './launch/install.mjs'
import { expectNodeOrPackage } from './launch/node-version.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

try {
  expectNodeOrPackage()
  await installWhenStale(root, !process.argv.includes('--programs'))
  if (process.argv.includes('--dashboard')) await buildDashboardWhenStale(root)
  if (process.argv.includes('--env')) writeEnvFileOnce(root)
} catch (error) {
  console.error(error.message)
  process.exitCode = error.exitCode ?? 1
}
