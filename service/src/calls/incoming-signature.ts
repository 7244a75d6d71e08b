import { RecentAnswers } from '../agents/recent-answers.ts'
import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { Db } from '../platform/db/schema.ts'
import type { Log } from '../platform/log.ts'
import type { SignedRequest } from '../platform/telephony/port.ts'
import { type Carriers, DEFAULT_CARRIER } from '../platform/telephony/registry.ts'
import type { TelephonyDefaults, TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { findAccountTenantsAcrossTenants } from './incoming-store.ts'

/** Whether a request came from the carrier that it says it came from. */
export type CallbackSignatures = {
  /**
   * Refuses what no carrier can have sent, before anything is asked about it.
   *
   * @throws AppError `unauthorized` for a request without a signature, or with one that has not the form of any carrier's.
   */
  expectSigned(request: SignedRequest): void
  /**
   * Checks a request about something of this tenant's with the tenant's own tokens; nobody else's count.
   *
   * @throws AppError `unauthorized`, the same whatever was wrong.
   */
  expectFrom(tenant: TenantRuntime, request: SignedRequest): void
  /** Whether `expectFrom` takes it. */
  isFrom(tenant: TenantRuntime, request: SignedRequest): boolean
  /**
   * Checks a request about nothing that we know, with the tokens of the account that it names: only that account's carrier is
   * told that we know nothing.
   *
   * @throws AppError `unauthorized`, the same whatever was wrong; `unavailable` while the database does not answer.
   */
  expectFromAccount(accountSid: string, request: SignedRequest): Promise<void>
}

type Deps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'error'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  carriers: Carriers
  /** The account of tenants that name none of their own. */
  defaults: TelephonyDefaults
  /** Whether that account is the simulator's, whose token nobody has set: a tenant that goes by it has none. */
  isSimulated: boolean
  /** Whether requests to whoever has no token are taken as they come: a rehearsal on this machine. */
  takesUnsigned: () => boolean
}

export function makeCallbackSignatures({
  db,
  clock,
  log,
  tenants,
  carriers,
  defaults,
  isSimulated,
  takesUnsigned,
}: Deps): CallbackSignatures {
  const accounts = new RecentAnswers<TenantId[]>({
    clock,
    onFault: (account_sid, err) =>
      log.error(
        { err, account_sid },
        'an account cannot be looked up: the tenants that were last known to name it count',
      ),
  })

  const isSet = (token: string) => !isSimulated || token !== defaults.auth_token

  /** Where nobody has set a token there is none to check by. The simulator's own requests are signed, and checked, all the same. */
  function isGenuine(request: SignedRequest, carrier: keyof Carriers, tokens: string[]): boolean {
    const driver = carriers[carrier]
    const isUnsigned = tokens.length === 0 || !(tokens.some(isSet) || driver.hasSignature(request.headers))
    return isUnsigned ? takesUnsigned() : driver.verify(request, tokens)
  }

  function expect(request: SignedRequest, carrier: keyof Carriers, tokens: string[]): void {
    if (!isGenuine(request, carrier, tokens)) throw notGenuine()
  }

  async function tokensOf(accountSid: string): Promise<string[]> {
    const ids = accountSid === '' ? [] : await accounts.get(accountSid, () => namedBy(accountSid))
    const named = await Promise.all((ids ?? []).map((id) => tenants.get(id)))
    const own = named.flatMap((tenant) => (tenant ? tokensIn(tenant) : []))
    const isDefault = accountSid !== '' && accountSid === defaults.account_sid
    return isDefault ? [...own, ...tokensIn({ telephony: defaults })] : own
  }

  /** An account that nobody names is not remembered. */
  async function namedBy(accountSid: string): Promise<TenantId[] | null> {
    const ids = await findAccountTenantsAcrossTenants(db, accountSid)
    return ids.length === 0 ? null : ids
  }

  return {
    expectSigned({ headers }) {
      const mayBeSigned = Object.values(carriers).some((carrier) => carrier.mayBeSigned(headers))
      if (!mayBeSigned && !takesUnsigned()) throw notGenuine()
    },
    expectFrom: (tenant, request) => expect(request, tenant.telephony.provider, tokensIn(tenant)),
    isFrom: (tenant, request) => isGenuine(request, tenant.telephony.provider, tokensIn(tenant)),
    expectFromAccount: async (accountSid, request) => expect(request, DEFAULT_CARRIER, await tokensOf(accountSid)),
  }
}

function notGenuine(): AppError {
  return new AppError('unauthorized', 'The signature of the carrier is missing or wrong.')
}

function tokensIn({ telephony }: { telephony: TelephonyDefaults }): string[] {
  return [telephony.auth_token, telephony.auth_token_secondary ?? null].filter((token) => token !== null)
}
