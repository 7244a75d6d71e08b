import { type PhoneNumber, phoneNumberOf } from '../../kernel/phone.ts'
import { ToolRefusal } from './tool.ts'

/** The number of the other side. @throws ToolRefusal with `unknown` when the call has none that can be called. */
export function numberOfCall(customerPhone: string, unknown: string): PhoneNumber {
  const phone = phoneNumberOf(customerPhone)
  if (phone === null) throw new ToolRefusal(unknown)
  return phone
}
