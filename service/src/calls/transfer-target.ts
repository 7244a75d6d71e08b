import { readNumber } from '../kernel/dialled-number.ts'
import { invalidRequest } from '../kernel/errors.ts'
import { isPhoneNumber, phoneFault, phoneNumberOf } from '../kernel/phone.ts'
import { costlyKind } from '../kernel/premium-numbers.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'

/** @throws AppError `invalid_request` for a number to which the tenant's calls are not put through. */
export function expectTarget(
  { transfer_targets: targets }: Pick<TenantRuntime, 'transfer_targets'>,
  target: string,
): void {
  const fault = targetFault(targets, target)
  if (fault !== null) throw invalidRequest([{ path: '/body/target', message: fault }])
}

function targetFault(targets: readonly string[], target: string): string | null {
  if (!isPhoneNumber(target)) return phoneFault(target)
  // A number among them may have been written down with a prefix of its country.
  const isAllowed = targets.some((allowed) => target.startsWith(phoneNumberOf(allowed) ?? allowed))
  if (!isAllowed) return "must be one of the tenant's transfer_targets"
  const kind = costlyKind(readNumber(target))
  return kind && `is ${kind}, and those are never called`
}
