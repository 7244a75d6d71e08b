import { readFile } from 'node:fs/promises'
import { ConfigError } from './config.ts'
import { THE_SYSTEM } from './kernel/actor.ts'
import { AppError } from './kernel/errors.ts'
import { isJsonObject } from './kernel/json-object.ts'
import { makeBodyCheck } from './platform/http/validation.ts'
import { TenantDocument } from './tenancy/tenant-document.ts'
import type { Tenants } from './tenancy/tenants.ts'

/**
 * Makes the tenants whose documents stand in a file, as a JSON array.
 *
 * @throws ConfigError that names TENANTS_FILE, for the first thing that is wrong with it: the file, or one of its documents.
 */
export async function loadTenants(path: string, tenants: Pick<Tenants, 'put'>): Promise<void> {
  const shapeFault = makeBodyCheck(TenantDocument)
  for (const [index, document] of (await readDocuments(path)).entries()) {
    const fault = isJsonObject(document) ? shapeFault(document) : new Error('must be an object.')
    if (fault) throw faulty(index, fault)
    // Sound: its shape was checked.
    const sound = document as TenantDocument
    await tenants.put(sound.tenant_id, sound, { ifNoneMatch: '*' }, THE_SYSTEM).catch((error: unknown) => {
      throw error instanceof AppError ? faulty(index, ofTheFile(error)) : error
    })
  }
}

/** Some editors begin a file with it. */
const BYTE_ORDER_MARK = /^\uFEFF/

async function readDocuments(path: string): Promise<unknown[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError([`TENANTS_FILE cannot be read (${error.code ?? 'unknown'}).`])
  })
  const documents: unknown = parsed(text.replace(BYTE_ORDER_MARK, ''))
  if (!Array.isArray(documents)) throw new ConfigError(['TENANTS_FILE must hold a JSON array of tenant documents.'])
  return documents as unknown[]
}

/** What a parser says of a fault may quote the file, and with it a secret. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function faulty(index: number, { message }: Error): ConfigError {
  return new ConfigError([`TENANTS_FILE holds a document that cannot be used, number ${index + 1}: ${message}`])
}

/** Nobody has sent a condition: the document's id stands in the file twice. */
function ofTheFile(error: AppError): Error {
  return error.code === 'precondition_failed' ? new Error('its tenant_id stands in the file before.') : error
}
