$airy bench integrate decode $small --seconds 0.05 --quiet >rows || exit 1
for key in name case device value unit p10 p90 limit limit_name ratio first_call; do
    grep -q "\"$key\": " rows || exit 2
done
