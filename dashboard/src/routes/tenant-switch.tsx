import { ComboboxChevron, InputBase } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { usePerson } from '../api/session.ts'
import { useCurrentTenant, useTenants } from '../api/tenants.ts'
import { TenantName } from '../components/tenant-name.tsx'
import { loadTenantChoice } from './shell-parts.ts'
import styles from './tenant-switch.module.css'

const TenantChoice = lazy(loadTenantChoice)

/** Whose pages these are. An administrator goes to the same page of another tenant here. */
export function TenantSwitch() {
  const { tenantId: own } = usePerson()
  const [wasOpened, setOpened] = useState(false)
  if (own !== null) {
    return (
      <div className={styles.own}>
        <TenantName tenantId={own} />
      </div>
    )
  }
  const closed = <ClosedChoice onOpen={() => setOpened(true)} />
  if (!wasOpened) return closed
  return (
    <Suspense fallback={closed}>
      <TenantChoice />
    </Suspense>
  )
}

/** Looks as the choice does until it is opened. */
function ClosedChoice({ onOpen }: { onOpen: () => void }) {
  const choices = useTenants()
  const current = useCurrentTenant()
  const name = choices?.find(({ tenantId }) => tenantId === current)?.name
  return (
    <InputBase
      component="button"
      type="button"
      size="sm"
      pointer
      aria-label={name === undefined ? 'Tenant' : `Tenant: ${name}`}
      aria-haspopup="listbox"
      aria-expanded={false}
      rightSection={<ComboboxChevron size="sm" />}
      rightSectionPointerEvents="none"
      classNames={{ input: styles.closed }}
      onClick={onOpen}
    >
      {name ?? 'Tenant'}
    </InputBase>
  )
}
