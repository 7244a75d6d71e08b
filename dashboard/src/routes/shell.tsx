import { ActionIcon, Drawer } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Outlet, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { personIn, sessionQuery } from '../api/session.ts'
import { rememberTenant } from '../api/tenants.ts'
import { Icon } from '../components/icon.tsx'
import { ColourSwitch } from './colour-switch.tsx'
import { NavigationList } from './navigation-list.tsx'
import { PersonMenu } from './person-menu.tsx'
import styles from './shell.module.css'
import { TenantSwitch } from './tenant-switch.tsx'

/** What stands around every page: where one can go, whose it is, who is logged in. */
export function Shell() {
  const { data: session } = useQuery(sessionQuery)
  const { tenantId } = useParams({ strict: false })
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)

  useEffect(() => {
    if (tenantId !== undefined) rememberTenant(tenantId)
  }, [tenantId])

  if (session && personIn(session) === null) return <ToLogin />
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#content">
        Skip to the page
      </a>
      <header className={styles.bar}>
        <ActionIcon className={styles.open} variant="subtle" size="lg" aria-label="Pages" onClick={() => setOpen(true)}>
          <Icon name="menu" size={22} />
        </ActionIcon>
        <Brand />
        <div className={styles.tenant}>
          <TenantSwitch />
        </div>
        <ColourSwitch />
        <PersonMenu />
      </header>
      <aside className={styles.side}>
        <NavigationList />
      </aside>
      <Drawer opened={isOpen} onClose={close} title="Parley" size={280} closeButtonProps={{ 'aria-label': 'Close' }}>
        <NavigationList onGo={close} />
      </Drawer>
      <main id="content" tabIndex={-1} className={styles.content}>
        <Outlet />
      </main>
    </div>
  )
}

/** Once, from where somebody was: on the way there the address is another one already. */
function ToLogin() {
  const navigate = useNavigate()
  const [from] = useState(() => location.pathname + location.search)
  useEffect(() => {
    void navigate({ to: '/login', search: { return_to: from }, replace: true })
  }, [navigate, from])
  return null
}

function Brand() {
  return (
    <a className={styles.brand} href={import.meta.env.BASE_URL} aria-label="Parley">
      <img src={`${import.meta.env.BASE_URL}icon.svg`} alt="" width={26} height={26} />
      <span>Parley</span>
    </a>
  )
}
