// Run after every change of dependencies: `node scripts/run.mjs scripts/complete-lockfile.ts`. Adds to package-lock.json
// the packages of other platforms that npm could not see here, without which `npm ci` refuses the file everywhere.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { completeLockfile, type Lockfile, missingPackages } from './check/lockfile.ts'

const path = join(import.meta.dirname, '..', 'package-lock.json')
const lockfile: Lockfile = JSON.parse(readFileSync(path, 'utf8'))
const missing = Object.keys(missingPackages(lockfile))

if (missing.length > 0) writeFileSync(path, `${JSON.stringify(completeLockfile(lockfile), null, 2)}\n`)
console.log(`package-lock.json: ${missing.length} packages of other platforms added`)
