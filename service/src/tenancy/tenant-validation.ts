import { AppError, faultSentences, invalidRequest } from '../kernel/errors.ts'
import type { Sealer } from '../kernel/seal.ts'
import type { Db } from '../platform/db/schema.ts'
import { makeBodyCheck } from '../platform/http/validation.ts'
import { toRuntime } from './tenant-defaults.ts'
import { TenantDocument } from './tenant-document.ts'
import { documentFaults } from './tenant-document-faults.ts'
import type { RuntimeTool, TelephonyDefaults, TenantRuntime } from './tenant-runtime.ts'
import { keepStored, openSecrets } from './tenant-secrets.ts'
import { findStoredTenant } from './tenant-store.ts'

/** What would run, without its secrets. */
export type ShownRuntime = ReturnType<typeof withoutSecrets>

/** What is wrong with a document, or what would run by it. */
export type Validation = { error: string; runtime: null } | { error: null; runtime: ShownRuntime }

/**
 * Says what a PUT of this document would refuse it for, and writes nothing. Whether another tenant holds its number or its
 * token is not asked.
 */
export type ValidateTenant = (body: Record<string, unknown>) => Promise<Validation>

type Deps = { db: Db; sealer: Sealer; telephony: TelephonyDefaults }

export function makeTenantValidation({ db, sealer, telephony }: Deps): ValidateTenant {
  const shapeFault = makeBodyCheck(TenantDocument)

  /** @throws AppError `invalid_request` with its faults. */
  async function soundDocument(body: Record<string, unknown>): Promise<TenantDocument> {
    const fault = shapeFault(body)
    if (fault) throw fault
    const sent = body as TenantDocument
    const stored = await findStoredTenant(db, sent.tenant_id)
    const kept = keepStored(sent, stored && openSecrets(stored.document, sealer), '/body')
    const [first, ...others] = [...(await documentFaults(sent, '/body', stored?.document)), ...kept.faults]
    if (first) throw invalidRequest([first, ...others])
    return kept.document
  }

  return async (body) => {
    try {
      const document = await soundDocument(body)
      return { error: null, runtime: withoutSecrets(toRuntime(document, telephony)) }
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'invalid_request') throw error
      return { error: faultSentences(error), runtime: null }
    }
  }
}

/** Left out rather than hidden: what would run holds them, and this does not. */
function withoutSecrets({ telephony, webhook, ticketing, tools, ...rest }: TenantRuntime) {
  const { auth_token: _token, auth_token_secondary: _secondary, ...account } = telephony
  return {
    ...rest,
    telephony: account,
    webhook: webhook && without(webhook, 'secret', 'secret_previous'),
    ticketing: ticketing && without(ticketing, 'token'),
    tools: tools.map(withoutHeaders),
  }
}

function without<Whole extends object, Name extends keyof Whole>(whole: Whole, ...names: Name[]): Omit<Whole, Name> {
  const copy = { ...whole }
  for (const name of names) delete copy[name]
  return copy
}

function withoutHeaders(tool: RuntimeTool) {
  const { headers: _headers, ...shown } = tool
  return shown
}
