export function identityOf(pid: number): string
export function isRunning(identity: string): boolean
