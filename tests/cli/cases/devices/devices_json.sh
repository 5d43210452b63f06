$airy devices >devices
head -n 1 devices | grep -q '^\[$' && grep -q '"spec": "cpu"' devices && grep -q '"default": true' devices && grep -q '"why": ' devices
