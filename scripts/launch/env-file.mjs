import { randomBytes } from 'node:crypto'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

function contents() {
  return `# Settings of this machine, written once by \`npm start\` and never overwritten.
# A variable that is already in the environment wins over this file.

# Seals secrets at rest (32 bytes, base64). Keep a copy: without it, what was sealed cannot be read again.
ENCRYPTION_KEY=${randomBytes(32).toString('base64')}

# Opens the admin endpoints, as the value of the header x-admin-key.
ADMIN_API_KEY=ak_${randomBytes(32).toString('base64url')}

# Opens the dashboard, at /app/.
ADMIN_USERNAME=admin
ADMIN_PASSWORD=${randomBytes(15).toString('base64url')}

# A rehearsal: a simulator stands in for every provider that has no account here. Going live: docs/going-live.md.
SIMULATOR=on
`
}

function createExclusively(path) {
  try {
    return openSync(path, 'wx', 0o600)
  } catch (error) {
    if (error.code === 'EEXIST') return undefined
    throw error
  }
}

/**
 * Writes `.env` with fresh secrets, readable by its owner alone.
 *
 * A file that is there stays as it is, whatever it says. A file that could not be written whole is
 * taken away again, so that the next start does not run without its secrets.
 * @param {string} root the project's folder
 */
export function writeEnvFileOnce(root) {
  const path = join(root, '.env')
  const file = createExclusively(path)
  if (file === undefined) return
  try {
    writeSync(file, contents())
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
}
