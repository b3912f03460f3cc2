import type { Excuses } from '../signs.ts';

export const excuses: Excuses = { rejected: /^((exec command |patch )?rejected by user|aborted by user)/ };
