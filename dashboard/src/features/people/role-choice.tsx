import { NativeSelect } from '@mantine/core'
import { words } from '../../components/text.ts'
import { USER_ROLES, type UserRole } from './people-queries.ts'

/** What somebody may. */
export function RoleChoice({ role, onChange }: { role: UserRole; onChange: (role: UserRole) => void }) {
  return (
    <NativeSelect
      label="Role"
      description="A viewer reads. An operator also acts on calls and tasks. An admin may everything of the tenant."
      data={USER_ROLES.map((value) => ({ value, label: words(value) }))}
      value={role}
      onChange={(event) => onChange(event.currentTarget.value as UserRole)}
    />
  )
}
